#pragma once

// What serves many runs is built on what makes one: configurations, bundles and processes keep their plain names here.
namespace nl::orchestrator {}
namespace nl::runs {
using namespace orchestrator;
}
