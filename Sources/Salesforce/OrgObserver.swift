/// An observer of what happens between attache and every org that is opened while it is set.
///
/// It is not a bare function: the optimizer of Swift 6.3.1 names the type of a task-local function
/// in a form that cannot be instantiated at run time.
package struct OrgObserver: Sendable {
  /// The observer of the current task, which its child tasks inherit.
  @TaskLocal package static var current: OrgObserver?

  /// Receives each event, from any thread.
  package let see: @Sendable (OrgEvent) -> Void

  package init(_ see: @escaping @Sendable (OrgEvent) -> Void) { self.see = see }
}
