import Testing

@Suite struct ManualTests {
  @Test(.enabled(if: place(of: "mandoc") != nil, "mandoc is not installed: make deps-test"))
  func `mandoc accepts the pages`() throws {
    let description = planner.description
    for page in [description.manual] + description.commands.map({ description.manual(for: $0) }) {
      #expect(try outputOf("mandoc", ["-Tlint", "-Wwarning"], input: page).text == "")
    }
  }

  @Test func `the manual page of a command`() throws {
    let command = try #require(planner.description.command(named: "reconcile undo"))
    #expect(
      planner.description.manual(for: command) == #"""
        .Dd November 21, 2026
        .Dt PLANNER\-RECONCILE\-UNDO 1
        .Os
        .Sh NAME
        .Nm planner\-reconcile\-undo
        .Nd take back a run's edits
        .Sh SYNOPSIS
        .Nm planner reconcile undo
        .Ar run
        .Fl \-reason Ar text
        .Sh DESCRIPTION
        Take back a run's edits.
        .Pp
        Its arguments and options:
        .Bl -tag -width Ds
        .It Ar run
        the run
        .It Fl \-reason Ar text
        why (required)
        .It Fl h , Fl \-help
        print this page
        .El
        .Sh ENVIRONMENT
        .Bl -tag -width Ds
        .It Ev PLANNER_DATA
        where data is kept
        .El
        .Sh EXIT STATUS
        .Bl -tag -width Ds
        .It Li 0
        done
        .It Li 2
        the words on the command line were wrong
        .It Li 3
        finished, with conflicts
        .El
        .Sh EXAMPLES
        undo run 12:
        .Pp
        .Dl planner reconcile undo 12

        """#)
  }
}
