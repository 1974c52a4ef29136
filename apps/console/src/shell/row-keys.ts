/** What is focused of each row of the lists on the page: the link to what it is about, or else its checkbox. */
const rowTargets = (): HTMLElement[] =>
  [...document.querySelectorAll('[data-row]')].flatMap((row) => {
    const target =
      row.querySelector<HTMLElement>('a[href]') ?? row.querySelector<HTMLElement>('input[data-select]')
    return target ? [target] : []
  })

const rowOf = (element: Element | null): Element | null => element?.closest('[data-row]') ?? null

/** `shift`: and all rows between it and the row that was selected before. */
function select(row: Element | null, shift: boolean): boolean {
  const box = row?.querySelector('input[data-select]')
  return (
    box?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey: shift })) ?? false
  )
}

/** Puts the cursor into the first filter of the list. */
function focusFilter(): boolean {
  const field = document.querySelector<HTMLInputElement>('main [role=search] input')
  field?.focus()
  return field !== null
}

/** Opens what chooses the columns of the list. */
function chooseColumns(): boolean {
  const button = document.querySelector<HTMLElement>('main [data-columns]')
  button?.click()
  return button !== null
}

/**
 * `f` goes to the filters of a list, `c` to its columns; `j` and `k` go through the rows of lists, `o` opens one, `x` selects one, Shift+`x` all up to it; returns whether the
 * key did something.
 */
export function pressRowKey(key: string): boolean {
  if (key === 'f') return focusFilter()
  if (key === 'c') return chooseColumns()
  const row = rowOf(document.activeElement)
  if (key === 'x' || key === 'X') return select(row, key === 'X')
  const targets = rowTargets()
  const at = targets.findIndex((target) => rowOf(target) === row)
  if (key === 'o') {
    if (at < 0 || !targets[at]!.matches('a')) return false
    targets[at]!.click()
    return true
  }
  const next = key === 'j' ? targets[at + 1] : key === 'k' ? targets[Math.max(at - 1, 0)] : undefined
  if (!next) return false
  next.focus()
  next.scrollIntoView({ block: 'nearest' })
  return true
}
