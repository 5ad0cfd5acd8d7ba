import Arguments
import Pipelines
import System

/// The questions of `attache init` at a terminal, for settings that the options lack.
struct InitQuestions {
  let program: Program

  /// Returns the options completed by the answers; unchanged without a terminal.
  func completed(_ given: InitOptions) throws(UsageError) -> InitOptions {
    guard program.inputIsTerminal, program.errorIsTerminal else { return given }
    var options = given
    if options.ways.isEmpty { try askLogin(&options) }
    let isKnown = options.url != nil || program.variables["ATTACHE_ORG_URL"] != nil
    if options.alias == nil, !isKnown {
      options.url = try ask("the org's address, as https://….my.salesforce.com:")
    }
    let hasApp = [LoginSettings.Method.jwt, .clientCredentials, .refreshToken].contains {
      options.ways.contains($0)
    }
    if hasApp, options.clientID == nil, program.variables["ATTACHE_CLIENT_ID"] == nil {
      options.clientID = try ask("the client id of the connected app:")
    }
    if options.users.isEmpty, options.usersQuery == nil {
      let isAnybody = options.ways == [.jwt]
      let question = "whose data is primed, user names with commas between them"
      let answer = try ask(
        isAnybody ? question + ":" : question + " (nothing for who logs in):", isRequired: isAnybody
      )
      options.users = Self.list(answer)
    }
    if options.from == nil, options.objects.isEmpty {
      options.objects = Self.list(try ask("the objects, as Account,Contact,Site_Visit__c:"))
    }
    return options
  }

  private func askLogin(_ options: inout InitOptions) throws(UsageError) {
    let words = LoginSettings.Method.allCases.map(\.rawValue)
    let answer = try ask("how to log in, one of \(words.joined(separator: ", ")):")
    guard let method = LoginSettings.Method(rawValue: answer) else {
      throw UsageError(
        "there is no login \"\(answer)\"", hint: "it is one of \(words.joined(separator: ", "))")
    }
    // Secrets are not typed here, but read from where scheduled runs find them.
    switch method {
    case .jwt: options.keyFile = try ask("the file with the private key:")
    case .clientCredentials: options.secretFile = try ask("the file with the app's secret:")
    case .refreshToken: options.refreshFile = try ask("the file with the refresh token:")
    case .accessToken: options.tokenFile = try ask("the file with the access token:")
    case .sf: options.alias = try ask("the alias that sf knows the org by:")
    }
  }

  private func ask(_ question: String, isRequired: Bool = true) throws(UsageError) -> String {
    for _ in 0..<3 {
      guard let answer = program.ask(question) else { break }
      if !answer.isEmpty || !isRequired { return answer }
    }
    throw UsageError(
      "there was no answer", hint: "give it as an option; attache init --help lists them")
  }

  private static func list(_ answer: String) -> [String] {
    answer.split { $0 == "," || $0 == " " }.map(String.init)
  }
}
