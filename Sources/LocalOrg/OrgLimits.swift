/// How much the local org gives in one answer, as real ones do.
package enum OrgLimits {
  /// Records of a page of a query; a client may ask for fewer.
  package static let queryPage = 200...2000
  /// Children of one record in a page.
  package static let children = 2000
}
