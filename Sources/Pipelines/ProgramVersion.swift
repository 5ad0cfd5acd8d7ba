/// The version of the program.
package enum ProgramVersion {
  package static let text = "1.0.0"
}
