/// The maximum sizes of the local org's responses, equal to those of real orgs.
package enum OrgLimits {
  /// The records per page of a query; a client may request fewer.
  package static let queryPage = 200...2000
  /// The children of one record per page.
  package static let children = 2000
}
