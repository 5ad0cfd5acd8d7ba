extension Org {
  /// Returns the IDs in a user's briefcases, page by page.
  package func primingRecords(
    as user: OrgUser, app clientID: String?, changedAfter: Int64? = nil, relayToken: String? = nil,
    pageSize: Int = 2000
  ) throws(OrgError) -> PrimingPage {
    try locked { store in
      try PrimingRunner(store: store, user: user, clientID: clientID)
        .page(changedAfter: changedAfter, relayToken: relayToken, pageSize: pageSize)
    }
  }

  /// Adds a briefcase and assigns it; returns its ID.
  ///
  /// Nil for `app` means any connected app.
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

  /// Returns the IDs of the rules that apply to a user, in serving order.
  package func briefcaseRules(of user: OrgUser, app clientID: String?) throws(OrgError)
    -> [(id: String, object: String)]
  {
    try locked { store in
      try PrimingRunner(store: store, user: user, clientID: clientID).ruleList()
    }
  }

  /// Makes a rule fail or work again; a failing rule is listed in `ruleErrors` and serves nothing.
  package func setRuleError(_ ruleID: String, _ failing: Bool) throws(OrgError) {
    try locked { store in
      try store.transaction { try store.setRuleError(ruleID, failing) }
    }
  }
}
