/** The link of each row of the lists on the page that leads to what the row is about. */
const rowLinks = (): HTMLElement[] =>
  [...document.querySelectorAll('[data-row]')].flatMap((row) => {
    const link = row.querySelector<HTMLElement>('a[href]')
    return link ? [link] : []
  })

/** `j` and `k` go through the rows of lists, `o` opens one; returns whether the key did something. */
export function pressRowKey(key: string): boolean {
  const links = rowLinks()
  const at = links.findIndex((link) => link.closest('[data-row]')?.contains(document.activeElement))
  if (key === 'o') {
    links[at]?.click()
    return at >= 0
  }
  const next = key === 'j' ? links[at + 1] : key === 'k' ? links[Math.max(at - 1, 0)] : undefined
  if (!next) return false
  next.focus()
  next.scrollIntoView({ block: 'nearest' })
  return true
}
