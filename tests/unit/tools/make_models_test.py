#!/usr/bin/env python3
"""tools/make-models: the same bytes each time, and the weights that its page promises."""
import pathlib
import struct
import subprocess
import tempfile
import unittest
import zipfile

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / 'tools' / 'make-models'


def first_of_stream(seed):
    """The first u of the page's formula, in whole numbers of Python."""
    modulus = 2 ** 64
    state = (seed * 0x9E3779B97F4A7C15) % modulus | 1
    state ^= state // 2 ** 12
    state ^= state * 2 ** 25 % modulus
    state ^= state // 2 ** 27
    return state * 0x2545F4914F6CDD1D % modulus // 2 ** 11 / 2 ** 52 - 1


class MakeModelsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        for name in ('a', 'b'):
            subprocess.run([SCRIPT, cls.folder / name], check=True)

    def test_writes_the_same_each_time(self):
        files = sorted(path.name for path in (self.folder / 'a').iterdir())
        self.assertIn('deep.onnx', files)
        for name in files:
            self.assertEqual((self.folder / 'a' / name).read_bytes(), (self.folder / 'b' / name).read_bytes(), name)

    def test_archive_has_the_weights_of_the_block(self):
        with zipfile.ZipFile(self.folder / 'a' / 'block.weights.npz') as archive:
            self.assertEqual(archive.namelist()[:3], ['norm1.weight.npy', 'norm1.bias.npy', 'query.weight.npy'])
            array = archive.read('norm1.weight.npy')
        self.assertIn(b"'shape': (64,)", array)
        self.assertEqual(len(array) % 64, 0)
        self.assertEqual(struct.unpack_from('<f', array, len(array) - 4 * 64), struct.unpack('<f', struct.pack('<f', 1 + 0.1 * first_of_stream(1))))
        self.assertIn(array[-4 * 64:], (self.folder / 'a' / 'block.onnx').read_bytes())

    def test_refuses_to_guess_a_folder(self):
        done = subprocess.run([SCRIPT], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, 'usage: tools/make-models FOLDER\n'))


unittest.main()
