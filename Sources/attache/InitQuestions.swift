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
      options.url = try ask("the org's URL, such as https://….my.salesforce.com:") {
        Self.isAddress($0) ? nil : "\"\($0)\" is not an https URL"
      }
    }
    let hasApp = [LoginSettings.Method.jwt, .clientCredentials, .refreshToken].contains {
      options.ways.contains($0)
    }
    if hasApp, options.clientID == nil, program.variables["ATTACHE_CLIENT_ID"] == nil {
      options.clientID = try ask("the client ID of the connected app:")
    }
    if options.users.isEmpty, options.usersQuery == nil {
      let isAnybody = options.ways == [.jwt]
      let question = "the users to prime, as user names separated by commas"
      let answer = try ask(
        isAnybody ? question + ":" : question + " (empty: the user who logs in):",
        isRequired: isAnybody
      ) { answer in
        Self.list(answer).compactMap(Self.wrongUserName).first
      }
      options.users = Self.list(answer)
    }
    if options.integrationUser == nil, options.ways == [.jwt] {
      let answer = try ask(
        "the integration user, who lists users and can see every record (empty: none):",
        isRequired: false
      ) { Self.wrongUserName($0) }
      options.integrationUser = answer.isEmpty ? nil : answer
    }
    if options.from == nil, options.objects.isEmpty {
      let answer = try ask("the objects, such as Account,Contact,Site_Visit__c:") { answer in
        Self.list(answer).first { !Self.isAPIName($0) }.map { "\"\($0)\" is not an API name" }
      }
      options.objects = Self.list(answer)
    }
    return options
  }

  private func askLogin(_ options: inout InitOptions) throws(UsageError) {
    let words = LoginSettings.Method.allCases.map(\.rawValue)
    let list = words.joined(separator: ", ")
    let answer = try ask("the login method, one of \(list):") { answer in
      if words.contains(answer) { return nil }
      let nearest = Spelling.nearest(answer, among: words).map { "did you mean \($0)? " } ?? ""
      return "there is no login \"\(answer)\"; \(nearest)it is one of \(list)"
    }
    let method = LoginSettings.Method(rawValue: answer) ?? .jwt
    // A secret is never typed here: it stays where scheduled runs find it.
    switch method {
    case .jwt: options.keyFile = try askFile("the private key")
    case .clientCredentials: options.secretFile = try askFile("the app's secret")
    case .refreshToken: options.refreshFile = try askFile("the refresh token")
    case .accessToken: options.tokenFile = try askFile("the access token")
    case .sf: options.alias = try ask("the alias of the org in the sf command:")
    }
  }

  /// Asks until an answer is valid; `fault` returns what is wrong with an answer.
  private func ask(
    _ question: String, isRequired: Bool = true, fault: (String) -> String? = { _ in nil }
  ) throws(UsageError) -> String {
    while let answer = program.ask(question) {
      if answer.isEmpty {
        if !isRequired { return answer }
        program.note("  an answer is needed; Ctrl-C quits without writing anything")
      } else if let fault = fault(answer) {
        program.note("  \(fault)")
      } else {
        return answer
      }
    }
    throw UsageError(
      "there was no answer", hint: "give it as an option; attache init --help lists them")
  }

  private func askFile(_ what: String) throws(UsageError) -> String {
    try ask("the file with \(what):", fault: missingFile)
  }

  private func missingFile(_ answer: String) -> String? {
    Files.exists(program.absolute(answer)) ? nil : "there is no file \(answer)"
  }

  private static func isAddress(_ answer: String) -> Bool {
    answer.hasPrefix("https://") || answer.hasPrefix("http://127.0.0.1")
      || answer.hasPrefix("http://localhost")
  }

  private static func wrongUserName(_ name: String) -> String? {
    name.contains("@") ? nil : "\"\(name)\" is not a user name: it has no @"
  }

  private static func isAPIName(_ name: String) -> Bool {
    name.first?.isLetter == true
      && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
  }

  private static func list(_ answer: String) -> [String] {
    answer.split { $0 == "," || $0 == " " }.map(String.init)
  }
}
