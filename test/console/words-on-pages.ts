import type { Page } from 'playwright-core'

/** What people type into a shell, settings, and operations of the API: words of no page. */
const WORDS =
  /\bsvc (?:admin|qr|cards)\b|\b[A-Z]{2,}(?:_[A-Z]+)+\b|\b(?:GET|POST|PUT|PATCH|DELETE) \/|\/api\/v0/g
/** Pages whose subject they are. */
const OF_WORDS = /^\/(?:settings|requests|webhooks|credentials)/

/** Ids, whole or short, outside the facts that are ids. */
const IDS = /\b[a-z]{2,4}_(?:…[0-9a-z]{4,}|[0-9a-z]{16,})/g
/** Records of what was done or said, as it was. */
const OF_IDS = /^\/(?:requests|events|audit|activity)/

const textOf = (page: Page, without: string): Promise<string> =>
  page.evaluate<string>(`(() => {
    const main = document.querySelector('main').cloneNode(true)
    for (const left of main.querySelectorAll(${JSON.stringify(without)})) left.remove()
    for (const each of main.querySelectorAll('*')) each.append(' ')
    return main.textContent
  })()`)

/** What stands on a page that no page of its kind shows. */
export async function strangeWords(page: Page, path: string): Promise<readonly string[]> {
  const words = OF_WORDS.test(path) ? [] : ((await textOf(page, 'style')).match(WORDS) ?? [])
  const ids = OF_IDS.test(path) ? [] : ((await textOf(page, 'style, [data-id]')).match(IDS) ?? [])
  return [...new Set([...words, ...ids])]
}
