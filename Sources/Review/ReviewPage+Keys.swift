extension ReviewPage {
  /// The keyboard shortcuts with their help, and the code that starts the page.
  static let keysScript = #"""

    // Keys.

    const keys = [['j or ↓', 'next edit'], ['k or ↑', 'previous edit'],
      ...Object.entries(deciding).map(([kind, key]) => [key, words[kind]
        + ({device: '; in a field, the device’s value', server: '; in a field, the org’s value'}[kind] ?? '')]),
      ['u', 'clear the decision'], ['/', 'search'],
      ['Enter', 'show the plan; in the plan, send'], ['Esc', 'back to the list']]
    function help() {
      dialog('Keys', make('dl', {}, ...keys.flatMap(([key, text]) =>
        [make('dt', {}, make('kbd', {}, key)), make('dd', {}, text)])), close())
    }

    document.addEventListener('keydown', event => {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      const target = event.target
      if ($('dialog').open) return
      if (event.key === 'Escape') { $('list').focus(); return }
      const isText = target.matches('input[type=text],input[type=search],select')
      if (isText) {
        if (event.key === 'Enter' && target.id === 'search') $('list').focus()
        return
      }
      const row = target.closest?.('tr[data-field]')
      const pick = which => {
        const radio = row?.querySelector(`input[type=radio][id$=-${which}]`)
        if (radio) radio.click()
        else chooseHere(which)
      }
      const does = {
        ...Object.fromEntries(Object.entries(deciding).map(([kind, key]) => [key, () => pick(kind)])),
        j: () => go(state.at + 1), k: () => go(state.at - 1), u: () => chooseHere(null),
        '/': () => $('search').focus(), '?': help,
        ArrowDown: target.id === 'list' ? () => go(state.at + 1) : null,
        ArrowUp: target.id === 'list' ? () => go(state.at - 1) : null,
        Home: target.id === 'list' ? () => go(0) : null,
        End: target.id === 'list' ? () => go(state.shown.length - 1) : null,
        PageDown: target.id === 'list' ? () => go(state.at + 10) : null,
        PageUp: target.id === 'list' ? () => go(state.at - 10) : null,
        Enter: target.closest('button,summary,a') ? null : plan
      }[event.key]
      if (does) { event.preventDefault(); does() }
    })

    $('detail').addEventListener('focusout', () => { if (state.isStale) later() })
    addEventListener('beforeunload', event => { if (state.choices.size > 0) event.preventDefault() })
    $('list').addEventListener('scroll', draw)
    addEventListener('resize', draw)
    for (const id of ['search', 'verdict', 'user']) $(id).addEventListener('input', () => filter())
    for (const button of document.querySelectorAll('[data-all]')) {
      button.addEventListener('click', () => chooseAll(button.dataset.all))
    }
    $('plan').addEventListener('click', plan)
    $('look').addEventListener('click', () => lookAround(true))
    $('keys').addEventListener('click', help)
    $('dialog').addEventListener('close', () => $('list').focus())
    load().then(() => $('list').focus(), error => {
      $('count').textContent = ''
      $('detail').replaceChildren(trouble(error))
    })

    """#
}
