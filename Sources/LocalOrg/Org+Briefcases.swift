/// Briefcases.
extension Org {
  /// The ids that a user's briefcases hold, page by page.
  package func primingRecords(
    as user: OrgUser, app clientID: String?, changedAfter: Int64? = nil, relayToken: String? = nil,
    pageSize: Int = 2000
  ) throws(OrgError) -> PrimingPage {
    try locked { store in
      try PrimingRunner(store: store, user: user, clientID: clientID)
        .page(changedAfter: changedAfter, relayToken: relayToken, pageSize: pageSize)
    }
  }

  /// Adds a briefcase and assigns it; answers its id.
  ///
  /// Nil for `app` is any connected app.
  @discardableResult
  package func addBriefcase(
    _ name: String, rules: [BriefcaseRule], users: [String], app clientID: String? = nil
  ) throws(OrgError) -> String {
    try locked { store in
      try store.transaction {
        try store.addBriefcase(name, rules: rules, users: users, clientID: clientID)
      }
    }
  }

  /// The ids of the rules that apply to a user, in the order in which they are served.
  package func briefcaseRules(of user: OrgUser, app clientID: String?) throws(OrgError)
    -> [(id: String, object: String)]
  {
    try locked { store in
      try PrimingRunner(store: store, user: user, clientID: clientID).ruleList()
    }
  }

  /// Makes a rule fail, or work again: it is named in `ruleErrors` and serves nothing.
  package func setRuleError(_ ruleID: String, _ failing: Bool) throws(OrgError) {
    try locked { store in
      try store.transaction { try store.setRuleError(ruleID, failing) }
    }
  }
}
