// Stands in for a libonnxruntime.so of long ago: it has the entry point, but not the API that is asked for.
struct OrtApi;
struct OrtApiBase {
  const OrtApi* (*GetApi)(unsigned version);
  const char* (*GetVersionString)();
};

extern "C" const OrtApiBase* OrtGetApiBase() {
  static const OrtApiBase base = {[](unsigned) -> const OrtApi* { return nullptr; }, [] { return "1.4.2"; }};
  return &base;
}
