#pragma once

// The program launched a kernel.
void fake_profiler_launch();
