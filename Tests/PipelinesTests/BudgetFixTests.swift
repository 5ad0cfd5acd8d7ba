import Pipelines
import Salesforce
import Testing

struct BudgetFixTests {
  private func fix(_ code: String) -> String {
    PipelineError(
      describing: OrgError(.limit, code: code, message: "no request is left", request: "GET /")
    ).fix ?? ""
  }

  @Test func `a run's own budget can be raised, and the org's limit passes`() {
    #expect(fix(APIBudget.runCode).hasPrefix("raise --api-budget (or org.apiBudget.perRun)"))
    #expect(!fix(APIBudget.runCode).contains("24-hour"))
    #expect(fix(APIBudget.code).contains("24-hour window"))
    #expect(!fix(APIBudget.code).contains("--api-budget"))
  }
}
