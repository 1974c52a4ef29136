import type { Group, Page } from './pages.ts'
import { escape, type Place, type Rendered, urlOf } from './render.ts'

/** What all pages of a site have around their text. */
export interface Frame {
  readonly groups: readonly Group[]
  readonly place: Place
  readonly version: string
}

function sidebar({ groups, place: { base } }: Frame, page: Page | undefined): string {
  const item = (each: Page) =>
    `<li><a href="${urlOf(base, each.path)}"${each === page ? ' aria-current="page"' : ''}>${escape(each.title)}</a></li>`
  return groups
    .map(({ title, folded, pages }) => {
      const list = `<ul>${pages.map(item).join('')}</ul>`
      const isHere = pages.some((each) => each === page)
      return folded
        ? `<details${isHere ? ' open' : ''}><summary>${title}</summary>${list}</details>`
        : `<h2>${title}</h2>${list}`
    })
    .join('')
}

const contents = ({ headings }: Rendered): string => {
  const shown = headings.filter(({ level }) => level === 2 || level === 3)
  if (shown.length < 2) return ''
  const items = shown.map(
    ({ level, id, text }) => `<li class="l${level}"><a href="#${escape(id)}">${escape(text)}</a></li>`,
  )
  return `<b>On this page</b><ul>${items.join('')}</ul>`
}

const footer = ({ groups, place: { base } }: Frame, page: Page | undefined): string => {
  const order = groups.flatMap(({ pages }) => pages)
  const at = page ? order.indexOf(page) : -1
  const previous = order[at - 1]
  const next = order[at + 1]
  const link = (rel: string, to: Page, text: string) =>
    `<a rel="${rel}" href="${urlOf(base, to.path)}">${escape(text)}</a>`
  return `<footer>${previous ? link('prev', previous, `← ${previous.title}`) : '<i></i>'}${next ? link('next', next, `${next.title} →`) : ''}</footer>`
}

/** A whole page. It needs no script to be read, and no inline script or style. */
export function shell(frame: Frame, page: Page | undefined, rendered: Rendered): string {
  const { groups, version, place } = frame
  const { base } = place
  const docs = urlOf(base, '')
  const group = groups.find(({ pages }) => pages.some((each) => each === page))
  const markdown = `${page ? urlOf(base, page.path) : urlOf(base, 'guides')}.md`
  // A published site has no service behind it: nothing to try.
  const [, tag] = /^Operations: (.*)$/.exec(page?.title ?? '') ?? []
  const toTry = tag
    ? `<a href="/docs/?tag=${encodeURIComponent(tag)}">Try these operations</a>`
    : '<a href="/docs">Try operations</a>'
  const tryIt = base === '' ? toTry : ''
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(page?.title ?? 'Documentation')} · svc</title><link rel="stylesheet" href="${docs}assets/site.css">
<link rel="alternate" type="text/markdown" href="${markdown}"><script type="module" src="${docs}assets/site.js"></script>
<header><a href="${docs}guides">svc <small>${escape(version)}</small></a><search><input type="search" placeholder="Search ( / )" aria-label="Search" autocomplete="off"><ol hidden></ol></search>${tryIt}<a href="${docs}errors">Errors</a></header>
<nav aria-label="Pages">${sidebar(frame, page)}</nav>
<main><p class="where">${group ? `${group.title} · ` : ''}<a href="${markdown}">Markdown</a></p>
${rendered.html}
${footer(frame, page)}</main>
<aside aria-label="On this page">${contents(rendered)}</aside></html>
`
}

/** The first sentence of a page, for lists. */
export function firstSentence({ text }: Page): string {
  const line = /^(?!#|<|\||!|-|\s*$|```)(.+)$/m.exec(text)?.[1] ?? ''
  return line.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').split(/(?<=\.) /)[0] ?? ''
}

/** The start page: all groups but the folded ones, each page with its first sentence. */
export function startPage(frame: Frame): string {
  const lists = frame.groups
    .filter(({ folded }) => !folded)
    .map(({ title, pages }) => {
      const items = pages.map(
        (page) =>
          `<li><a href="${urlOf(frame.place.base, page.path)}">${escape(page.title)}</a><br>${escape(firstSentence(page).replaceAll('`', '')).slice(0, 160)}</li>`,
      )
      return `<h2>${title}</h2><ul class="cards">${items.join('')}</ul>`
    })
  const html = `<h1>Documentation</h1>${lists.join('')}`
  return shell(frame, undefined, { html, headings: [], anchors: new Set() })
}
