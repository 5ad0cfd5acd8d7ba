import Testing

@Suite struct HelpTests {
  @Test func `the help page of a command`() throws {
    let command = try #require(planner.description.command(named: "prime"))
    #expect(
      planner.description.help(for: command) == """
        planner prime - prime snapshots from the org

        usage: planner prime [--user NAME]... [--only STAGES]... [--jobs N]
               [--format FORMAT] [--deadline SECONDS] [--dry-run] [--quiet] PIPELINE
               [MORE]...

        Fetches what changed since the last run, as each user. Nothing that is published
        is changed; a run that dies leaves the last generation in place.

        Users are named by their user names.

        arguments:
          PIPELINE  a pipeline file, or a name in pipelines/
          MORE      further pipelines

        options:
          -u, --user NAME         only these users; may be repeated
              --only STAGES       stages to do (default: all); may be repeated
          -j, --jobs N            stores in work at once (default: 4)
              --format FORMAT     archive format: zip, tar.zst (default: zip)
              --deadline SECONDS  stop after this time
          -n, --dry-run           print the plan and stop
          -q, --quiet             say nothing

        example:
          planner prime field-service --user ada@example.com
              one user's snapshot

        shared options (see planner help): --json, --help

        """)
  }

  @Test func `the help page of the program`() {
    #expect(
      planner.description.help == """
        planner - plans what field staff take along

        usage: planner COMMAND [OPTION]... [ARGUMENT]...

        plans:
          reconcile       send what came back
          reconcile undo  take back a run's edits
          prime           prime snapshots from the org

        others:
          org serve       serve an org
          completion      print a completion script for a shell
          manual          print the manual page
          help            explain a command

        global options:
          -h, --help     print this page
              --version  print the version

        options of several commands:
              --json  print JSON

        exit status:
          0  done
          2  the words on the command line were wrong
          3  finished, with conflicts

        environment:
          PLANNER_DATA  where data is kept

        planner help COMMAND explains one command.

        """)
  }

  @Test func `every page has an example and at most 80 columns`() {
    for command in planner.description.commands {
      let page = planner.description.help(for: command)
      let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
      let example = lines.drop { $0 != "example:" }.dropFirst().first
      #expect(example?.contains("planner \(command.name)") == true, "\(command.name)")
      #expect(!page.contains("exit status:"), "\(command.name)")
      for line in page.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }
  }
}
