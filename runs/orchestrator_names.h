#pragma once

// Code for many runs uses the code for one run. With this it can name configurations, bundles and processes without a prefix.
namespace nl::orchestrator {}
namespace nl::runs {
using namespace orchestrator;
}
