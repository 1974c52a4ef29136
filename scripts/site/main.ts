// Builds the documentation site into dist-site/: every page as HTML and as Markdown, one search index, llms.txt.
// `npm run docs -- --base /v0.1 --into FOLDER` builds it to be published below a path.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import MiniSearch from 'minisearch'
import { type Group, type Page, readGroups } from './pages.ts'
import { asMarkdown, type Place, plainTitle, type Rendered, render, slug, urlOf } from './render.ts'
import { OPTIONS, type Section } from './search.ts'
import { type Frame, firstSentence, shell, startPage } from './shell.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const { base, into } = parseArgs({
  options: { base: { type: 'string', default: '' }, into: { type: 'string', default: 'dist-site' } },
}).values
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** How much a group counts in search. */
const RANKS: Readonly<Record<string, number>> = {
  Start: 1.6,
  Integrate: 2,
  Operate: 1.6,
  Reference: 0.9,
  'Operations of the API': 0.7,
  Contribute: 0.7,
  Decisions: 0.35,
}

const plainText = (text: string): string =>
  text
    .replaceAll(/```[^\n]*\n([\s\S]*?)```/g, '$1')
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/[`*|#>]/g, ' ')
    .replaceAll(/\s+/g, ' ')

/** The parts of a page by their headings; lines of code that begin like one are none. */
function partsOf(text: string): string[] {
  let isCode = false
  const parts: string[][] = [[]]
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    if (!isCode && /^#{1,3} /.test(line)) parts.push([])
    parts.at(-1)!.push(line)
  }
  return parts.map((lines) => lines.join('\n')).filter((part) => part.startsWith('#'))
}

function sectionsOf(page: Page, rank: number): Omit<Section, 'id'>[] {
  return partsOf(page.text).map((part, index) => {
    const title = plainTitle(/^#+ (.+)$/m.exec(part)?.[1] ?? page.title)
    return {
      url: urlOf(base, page.path) + (index === 0 ? '' : `#${slug(title)}`),
      page: page.title,
      title,
      keywords: index === 0 ? page.keywords : '',
      text: plainText(part.replace(/^.+$/m, '')),
      // The changelog names everything once, and explains nothing.
      rank: page.path === 'contribute/changelog' ? rank / 4 : index === 0 ? rank * 1.3 : rank,
    }
  })
}

const put = (path: string, text: string): void => {
  const file = join(resolve(ROOT, into), path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

function writeSearch(groups: readonly Group[]): void {
  const index = new MiniSearch<Section>(OPTIONS)
  const sections = groups.flatMap(({ title, pages }) =>
    pages.flatMap((page) => sectionsOf(page, RANKS[title] ?? 1)),
  )
  index.addAll(sections.map((section, id) => ({ id, ...section })))
  put('docs/assets/search.json', JSON.stringify(index))
}

function writeForAgents({ groups, place }: Frame): void {
  const lists = groups.map(({ title, pages }) => {
    const items = pages.map(
      (page) => `- [${page.title}](${urlOf(base, page.path)}.md): ${firstSentence(page)}`,
    )
    return `## ${title}\n\n${items.join('\n')}`
  })
  const head = `# svc ${version}\n\n> Partner service for payments in India: UPI QR codes, gift cards by encrypted requests, coins, webhooks. A sandbox with its own database starts by one command.\n`
  const list = `${head}\n${lists.join('\n\n')}\n`
  put('llms.txt', list)
  put('docs/guides.md', list)
  const read = groups.slice(0, 2).flatMap(({ pages }) => pages)
  put('llms-full.txt', read.map((page) => asMarkdown(place, page)).join('\n\n---\n\n'))
}

async function writeAssets(): Promise<void> {
  await build({
    entryPoints: [join(ROOT, 'scripts/site/browser.ts')],
    outfile: join(resolve(ROOT, into), 'docs/assets/site.js'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    legalComments: 'inline',
    logLevel: 'warning',
  })
  put('docs/assets/site.css', readFileSync(join(ROOT, 'scripts/site/site.css'), 'utf8'))
  for (const client of ['python/svc_client.py', 'java/Svc.java', 'php/Svc.php'])
    put(`docs/clients/${basename(client)}`, readFileSync(join(ROOT, 'clients', client), 'utf8'))
  cpSync(join(ROOT, 'docs/images'), join(resolve(ROOT, into), 'docs/images'), { recursive: true })
}

rmSync(resolve(ROOT, into), { recursive: true, force: true })
const problems: string[] = []
const groups = readGroups(ROOT, problems)
const pages = new Map(groups.flatMap((group) => group.pages.map((page) => [page.path, page] as const)))
const place: Place = { root: ROOT, base, pages, problems, wanted: [] }
const frame: Frame = { groups, place, version }
const rendered = new Map<string, Rendered>()
for (const page of pages.values()) {
  const made = render(place, page)
  rendered.set(page.path, made)
  put(`docs/${page.path}.html`, shell(frame, page, made))
  put(`docs/${page.path}.md`, asMarkdown(place, page))
  // The address in every error response.
  if (page.path === 'reference/errors') put('docs/errors.html', shell(frame, page, made))
}
for (const { from, path, anchor } of place.wanted)
  if (!rendered.get(path)?.anchors.has(decodeURIComponent(anchor)))
    problems.push(`${from.path}: ${path} has no #${anchor}`)
put('docs/guides.html', startPage(frame))
put(
  'index.html',
  `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${base}/docs/guides"><a href="${base}/docs/guides">Documentation</a>\n`,
)
writeSearch(groups)
writeForAgents(frame)
await writeAssets()
for (const problem of new Set(problems)) console.error(problem)
if (problems.length > 0) process.exitCode = 1
