import Arguments
import LocalOrg
import System

/// `attache org ca`: creates a certificate authority for a local org with TLS.
struct OrgCACommand: Command {
  static let name = "org ca"
  static let summary = "create a certificate authority for the embedded org"
  static let examples = [
    Note(
      "attache org ca --data .org",
      ".org/ca/ca.pem for clients, server.pem and server-key.pem for the org")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .option("data", "DIR", "data directory of the org", completes: .directories, \.data)
    ]
  }

  var data = Options.orgDirectory

  func run(_ context: Program) async throws -> ExitStatus {
    let authority = try CertificateAuthority.make(directory: context.directory(data) + "/ca")
    context.print(authority.certificatePath)
    return .done
  }
}
