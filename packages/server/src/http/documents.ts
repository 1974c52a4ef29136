import { readdir, readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { PACKAGE_ROOT } from '@svc/platform/package'
import MarkdownIt from 'markdown-it'

/** Folders of `docs/` that are served, with their headings in the list of pages. */
const FOLDERS = {
  tutorial: 'Tutorial',
  guides: 'Guides',
  reference: 'Reference',
  decisions: 'Decisions',
} as const

/** The service renders this page from its error registry. */
const ERRORS = { file: '/docs/reference/errors', page: '/docs/errors' } as const

const DOCS = join(PACKAGE_ROOT, 'docs')
const PAGE = /^\/docs\/(tutorial|guides|reference|decisions)\/[\w-]+$/
const IMAGE = /^\/docs\/images\/[\w-]+\.png$/

const plain = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** The anchor that GitHub gives a heading. */
const slug = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** Where a link of a page leads: another page, an address on the web, or `undefined` for files that are not served. */
function target(page: string, href: string): string | undefined {
  if (/^(?:https?:\/\/|#)/.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const file = posix.join(posix.dirname(page), path)
  const url = file.replace(/\.md$/, '')
  const found = url === ERRORS.file ? ERRORS.page : PAGE.test(url) || IMAGE.test(file) ? url : undefined
  return found && anchor ? `${found}#${anchor}` : found
}

/** Renders without raw HTML; links of other schemes than those of `target` become text. */
function renderer(page: string): MarkdownIt {
  const markdown = new MarkdownIt({ html: false })
  const { rules } = markdown.renderer
  const open: boolean[] = []
  rules['heading_open'] = (tokens, index) =>
    `<${tokens[index]!.tag} id="${plain(slug(tokens[index + 1]!.content.replace(/[`*]/g, '')))}">`
  rules['link_open'] = (tokens, index) => {
    const href = target(page, tokens[index]!.attrGet('href') ?? '')
    open.push(href !== undefined)
    return href === undefined ? '' : `<a href="${plain(href)}">`
  }
  rules['link_close'] = () => (open.pop() ? '</a>' : '')
  rules['image'] = (tokens, index) => {
    const { content } = tokens[index]!
    const source = target(page, tokens[index]!.attrGet('src') ?? '')
    return source === undefined ? plain(content) : `<img src="${plain(source)}" alt="${plain(content)}">`
  }
  return markdown
}

const shell = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${plain(title)} · svc</title>
<style>:root{color-scheme:light dark}body{font:1rem/1.55 system-ui;max-width:48rem;margin:1.5rem auto;padding:0 1rem}
pre{overflow-x:auto;padding:.8rem;border:1px solid #8886;border-radius:6px}code{font-size:.92em}td code,p code,li code{overflow-wrap:anywhere}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid #8886;padding:.3rem .6rem;text-align:left;vertical-align:top}img{max-width:100%}:target{outline:2px solid #0a7a5a;outline-offset:.3rem}</style>
<nav><a href="/docs">Operations</a> · <a href="/docs/guides">Guides</a> · <a href="/docs/errors">Errors</a></nav>
<main>${body}</main></html>`

const titleOf = (text: string, name: string): string =>
  /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? name

/** The page of a file of `docs/`, or `undefined` where there is none. */
export async function documentPage(url: string): Promise<string | undefined> {
  if (!PAGE.test(url) || url === ERRORS.file) return undefined
  try {
    const text = await readFile(join(PACKAGE_ROOT, `${url}.md`), 'utf8')
    return shell(titleOf(text, url), renderer(url).render(text))
  } catch {
    return undefined
  }
}

export async function documentImage(url: string): Promise<Buffer | undefined> {
  if (!IMAGE.test(url)) return undefined
  return readFile(join(PACKAGE_ROOT, url)).catch(() => undefined)
}

/** The list of all pages. */
export async function documentList(): Promise<string> {
  const sections = await Promise.all(
    Object.entries(FOLDERS).map(async ([folder, heading]) => {
      const all = (await readdir(join(DOCS, folder)).catch(() => [])).filter((file) => file.endsWith('.md'))
      // A folder with a README lists its pages there.
      const files = all.includes('README.md') ? ['README.md'] : all
      const items = await Promise.all(files.toSorted().map((file) => listItem(folder, file)))
      return `<h2 id="${folder}">${heading}</h2><ul>${items.join('\n')}</ul>`
    }),
  )
  return shell('Guides', `<h1>Guides</h1>${sections.join('\n')}`)
}

async function listItem(folder: string, file: string): Promise<string> {
  const url = `/docs/${folder}/${file.replace(/\.md$/, '')}`
  const title = titleOf(await readFile(join(DOCS, folder, file), 'utf8'), file)
  return `<li><a href="${url === ERRORS.file ? ERRORS.page : url}">${plain(title)}</a></li>`
}
