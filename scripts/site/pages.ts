import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiPages } from './api-pages.ts'

export interface Page {
  /** Its address below /docs, without an ending. */
  readonly path: string
  /** The file of the repository that it is made of; pages of the API have none. */
  readonly file: string | undefined
  readonly title: string
  readonly text: string
  /** Words that search finds it by, beside its own. */
  readonly keywords: string
}

export interface Group {
  readonly title: string
  readonly folded: boolean
  readonly pages: readonly Page[]
}

interface Navigation {
  readonly keywords: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, string>>
  readonly groups: readonly {
    readonly title: string
    readonly pages: readonly string[]
    readonly folded?: boolean
  }[]
}

const FOLDERS = ['tutorial', 'guides', 'reference', 'decisions']

const titleOf = (text: string, path: string): string =>
  (/^# (.+)$/m.exec(text)?.[1] ?? path).replaceAll('`', '')

/** All pages of the site by path: the files of docs/, those that docs/nav.json names elsewhere, and the API by tag. */
function readPages(root: string, { files, keywords }: Navigation, problems: string[]): Map<string, Page> {
  const pages = new Map<string, Page>()
  const add = (path: string, text: string, file?: string) =>
    pages.set(path, { path, file, text, title: titleOf(text, path), keywords: keywords[path] ?? '' })
  for (const folder of FOLDERS)
    for (const name of readdirSync(join(root, 'docs', folder)).toSorted()) {
      if (!name.endsWith('.md')) continue
      const file = `docs/${folder}/${name}`
      add(file.slice('docs/'.length, -'.md'.length), readFileSync(join(root, file), 'utf8'), file)
    }
  for (const [path, file] of Object.entries(files)) add(path, readFileSync(join(root, file), 'utf8'), file)
  const document = JSON.parse(readFileSync(join(root, 'docs/reference/openapi.json'), 'utf8'))
  for (const [tag, text] of apiPages(document)) add(`reference/api/${tag}`, text)
  for (const path of Object.keys(keywords))
    if (!pages.has(path)) problems.push(`docs/nav.json has keywords of ${path}, which does not exist`)
  return pages
}

/** The groups of docs/nav.json with their pages; `folder/*` stands for those that no other line names. */
export function readGroups(root: string, problems: string[]): Group[] {
  const navigation: Navigation = JSON.parse(readFileSync(join(root, 'docs/nav.json'), 'utf8'))
  const { groups } = navigation
  const pages = readPages(root, navigation, problems)
  const named = new Set(groups.flatMap((group) => group.pages))
  const numeric = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true })
  const found = groups.map(({ title, folded = false, pages: lines }) => ({
    title,
    folded,
    pages: lines
      .flatMap((line) => {
        if (!line.endsWith('/*')) return [line]
        const others = [...pages.keys()].filter((path) => !named.has(path))
        const inFolder = others.filter((path) => path.startsWith(line.slice(0, -1)))
        return line.startsWith('decisions/') ? inFolder.sort(numeric) : inFolder
      })
      .flatMap((path) => {
        const page = pages.get(path)
        if (!page) problems.push(`docs/nav.json names ${path}, which does not exist`)
        return page ?? []
      }),
  }))
  const shown = new Set(found.flatMap((group) => group.pages.map(({ path }) => path)))
  for (const path of pages.keys())
    if (!shown.has(path)) problems.push(`${path} is in no group of docs/nav.json`)
  return found
}
