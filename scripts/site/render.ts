import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import hljs from 'highlight.js/lib/common'
import MarkdownIt from 'markdown-it'
import type { Page } from './pages.ts'

export const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** The anchor that GitHub gives a heading. */
export const slug = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** A heading as text: without the marks of code, emphasis and links. */
export const plainTitle = (text: string): string =>
  text.replaceAll(/[`*]/g, '').replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')

export interface Heading {
  readonly level: number
  readonly id: string
  readonly text: string
}

export interface Rendered {
  readonly html: string
  readonly headings: readonly Heading[]
  readonly anchors: ReadonlySet<string>
}

/** The addresses of a site. */
export interface Place {
  readonly root: string
  /** The path that the site is published under; empty where it has a host of its own. */
  readonly base: string
  readonly pages: ReadonlyMap<string, Page>
  readonly problems: string[]
  /** Anchors that links lead to, checked when all pages are made. */
  readonly wanted: { readonly from: Page; readonly path: string; readonly anchor: string }[]
}

export const urlOf = (base: string, path: string): string => `${base}/docs/${path}`

/** Clients in other languages: the site has each file, to be copied. */
const CLIENT = /^clients\/(?:python\/svc_client\.py|java\/Svc\.java|php\/Svc\.php)$/

/** The file that relative links of a page start from. */
const fileOf = ({ file, path }: Page): string => file ?? `docs/${path}.md`

/** Where a link of a page leads, or `undefined` for files that are no pages: they are in the repository alone. */
export function target(place: Place, page: Page, href: string): string | undefined {
  if (/^https?:\/\//.test(href)) return href
  const [path = '', anchor] = href.split('#')
  if (path === '' && anchor !== undefined) {
    place.wanted.push({ from: page, path: page.path, anchor })
    return href
  }
  if (href.startsWith('/')) return place.base + href
  const file = posix.join(posix.dirname(fileOf(page)), path)
  const found = [...place.pages.values()].find((each) => fileOf(each) === file)
  if (found) {
    if (anchor) place.wanted.push({ from: page, path: found.path, anchor })
    return urlOf(place.base, found.path) + (anchor ? `#${anchor}` : '')
  }
  if (!existsSync(join(place.root, file))) {
    place.problems.push(`${fileOf(page)}: ${href} does not exist`)
    return undefined
  }
  if (CLIENT.test(file)) return `${place.base}/docs/clients/${posix.basename(file)}`
  return file.startsWith('docs/images/') ? `${place.base}/${file}` : undefined
}

function highlight(text: string, info: string): string {
  const language = info.split(/\s/)[0] ?? ''
  return hljs.getLanguage(language) ? hljs.highlight(text, { language, ignoreIllegals: true }).value : ''
}

/** Named anchors of generated tables (`<a id="…"></a>`) are the only HTML that is understood. */
const ANCHOR = /<a id="([\w-]+)"><\/a>/g
const MARK = /%%ANCHOR-([\w-]+)%%/g

/** Renders a page without raw HTML; links to what is not on the site become text. */
export function render(place: Place, page: Page): Rendered {
  const markdown = new MarkdownIt({ html: false, highlight })
  const { rules } = markdown.renderer
  const anchors = new Set<string>()
  const headings: Heading[] = []
  const open: boolean[] = []
  rules['heading_open'] = (tokens, index) => {
    const { tag } = tokens[index]!
    const text = plainTitle(tokens[index + 1]!.content).replaceAll(MARK, '')
    let id = slug(text)
    for (let n = 1; anchors.has(id); n++) id = `${slug(text)}-${n}`
    anchors.add(id)
    headings.push({ level: Number(tag[1]), id, text })
    return `<${tag} id="${escape(id)}">`
  }
  rules['link_open'] = (tokens, index) => {
    const href = target(place, page, tokens[index]!.attrGet('href') ?? '')
    open.push(href !== undefined)
    return href === undefined ? '' : `<a href="${escape(href)}">`
  }
  rules['link_close'] = () => (open.pop() ? '</a>' : '')
  rules['image'] = (tokens, index) => {
    const { content } = tokens[index]!
    const source = target(place, page, tokens[index]!.attrGet('src') ?? '')
    if (source === undefined) return escape(content)
    return `<img src="${escape(source)}" alt="${escape(content)}" loading="lazy">`
  }
  // The policy of the pages allows no style of an element.
  for (const rule of ['th_open', 'td_open'])
    rules[rule] = (tokens, index) => {
      const { tag } = tokens[index]!
      const side = /text-align:(\w+)/.exec(tokens[index]!.attrGet('style') ?? '')?.[1]
      return side ? `<${tag} class="${side}">` : `<${tag}>`
    }
  const fence = rules.fence!
  rules.fence = (...args) => `<div class="code">${fence(...args)}</div>`
  const text = page.text.replaceAll(/<!--[\s\S]*?-->/g, '').replaceAll(ANCHOR, '%%ANCHOR-$1%%')
  const html = markdown.render(text).replaceAll(MARK, (_, id: string) => {
    anchors.add(id)
    return `<a id="${id}"></a>`
  })
  return { html, headings, anchors }
}

/** The page as it was written, for agents and `curl`, with links that lead to pages of the site as Markdown. */
export function asMarkdown(place: Place, page: Page): string {
  const parts = page.text.split(/(^```[\s\S]*?^```)/m)
  const link = (whole: string, href: string) => {
    const url = target(place, page, href)
    if (url === undefined) return whole
    const [path = '', anchor] = url.split('#')
    const isPage = place.pages.has(path.slice(`${place.base}/docs/`.length))
    return `](${isPage ? `${path}.md${anchor ? `#${anchor}` : ''}` : url})`
  }
  return parts
    .map((part, n) =>
      n % 2
        ? part
        : part.replaceAll(/\]\((?!https?:|#)([^)\s]+)\)/g, (whole, href: string) => link(whole, href)),
    )
    .join('')
}
