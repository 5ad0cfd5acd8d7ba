import Pipelines
import Testing

@Suite struct RunSummaryTests {
  private func status(_ findings: RunFinding...) -> Int32 {
    var summary = RunSummary()
    summary.findings = Set(findings)
    return summary.exitStatus.rawValue
  }

  @Test func `the worst finding of a run determines the exit status`() {
    #expect(status() == 0)
    for finding in [.skippedUser, .quarantined, .unsettledEdits] as [RunFinding] {
      #expect(status(finding) == 3)
    }
    #expect(status(.guardTripped) == 3)
    #expect(status(.incompleteData) == 3)
    #expect(status(.limitReached, .skippedUser) == 6)
    #expect(status(.loginFailed, .limitReached, .skippedUser) == 5)
    #expect(status(.failedSnapshot, .loginFailed, .limitReached) == 1)
  }

  @Test(arguments: [PipelineError.Kind.tryLater, .authentication, .failed])
  func `a stage that fails gives the run the status of its error`(_ kind: PipelineError.Kind) {
    #expect(status(RunFinding(ofEnd: kind)) == kind.exitStatus.rawValue)
  }
}
