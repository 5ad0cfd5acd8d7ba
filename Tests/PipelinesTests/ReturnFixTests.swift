import Pipelines
import Testing

struct ReturnFixTests {
  @Test func `the commands of a fix name the pipeline, its data and the file`() {
    #expect(
      ReturnFix.text(
        "name it: attache ingest PIPELINE --generation SNAPSHOT/GENERATION FILE",
        pipeline: "visits --data /data", name: "a b.sqlite", path: "/q/a b.sqlite")
        == "name it: attache ingest visits --data /data --generation SNAPSHOT/GENERATION '/q/a b.sqlite'"
    )
    #expect(
      ReturnFix.text(
        "then attache returns release PIPELINE NAME", pipeline: "visits", name: "a b.sqlite",
        path: nil) == "then attache returns release visits 'a b.sqlite'")
  }
}
