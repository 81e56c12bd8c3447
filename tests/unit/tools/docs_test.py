#!/usr/bin/env python3
"""The documentation does not drift: every configuration key is described, every relative link leads somewhere."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', ROOT / 'tests/fixtures/README.md', *sorted((ROOT / 'docs').glob('*.md'))]


def undocumented_keys():
    # Sample: {.path = "run.mode", …    and    whole("model.layers", …
    source = (ROOT / 'orchestrator/config/keys.cpp').read_text()
    keys = re.findall(r'(?:\.path = |whole\()"([\w.]+)"', source)
    assert len(keys) > 50, keys
    page = (ROOT / 'docs/configuration.md').read_text()
    documented = set(re.findall(r'^\| `([a-z_]+\.[\w.]+)` \|', page, re.MULTILINE))
    yield from (f'docs/configuration.md lacks {key}' for key in keys if key not in documented)
    yield from (f'docs/configuration.md describes {key}, which is gone' for key in sorted(documented - set(keys)))


def dead_links():
    # Sample: [the bundle](docs/bundle.md#files)
    for page in PAGES:
        for target in re.findall(r'\]\(([^)#\s]+)[^)]*\)', page.read_text()):
            if '://' not in target and not (page.parent / target).exists():
                yield f'{page.relative_to(ROOT)}: no such file: {target}'


def main():
    faults = [*undocumented_keys(), *dead_links()]
    print('\n'.join(faults) or f'{len(PAGES)} pages')
    sys.exit(bool(faults))


main()
