import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { newVisitor, openBrowser } from '../harness/browser.ts'
import type { Json } from '../harness/client.ts'
import { startProcess } from '../harness/processes.ts'
import { MASTER_KEY, newDatabase } from '../harness/service.ts'

/** The bank of the sandbox has confirmed no refund, so its notice goes to quarantine. A new sandbox has no month that is over. */
const OTHERS: Record<string, number> = { confirmRefund: 202, getTaxDocument: 404, getTaxDocumentPdf: 404 }

interface Shown {
  readonly operationId: string
  readonly path: string
  readonly method: string
  readonly tag: string
}

async function operationsShown(baseUrl: string): Promise<Shown[]> {
  const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as Json
  const all = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, { operationId, tags }]) => ({
      operationId,
      path,
      method: method.toUpperCase(),
      tag: tags[0],
    })),
  )
  // A new token brings its own session cookie, and card search needs the one of the prefilled token (decision A8).
  const isLast = ({ operationId }: Shown) => operationId === 'issuePartnerToken'
  return [...all.filter((each) => !isLast(each)), ...all.filter(isLast)]
}

const isShown = (button: Locator): Promise<boolean> =>
  button.waitFor({ timeout: 20_000 }).then(
    () => true,
    () => false,
  )

/** Presses "Test Request" of an operation, then "Send"; resolves with the response that the browser receives. */
async function press(page: Page, { path, method, tag }: Shown): Promise<{ status: number; text: string }> {
  const anchor = `tag/${tag.toLowerCase().replaceAll(' ', '-')}/${method}${path}`
  // Opens the operation as its link in the sidebar does.
  const goThere = () => page.evaluate(`location.hash = ${JSON.stringify(anchor)}`)
  const button = page.locator(`[id="api-1/${anchor}"]`).getByRole('button', { name: 'Test Request' })
  await goThere()
  // On a busy machine Scalar now and then shows nothing where the link leads, until the page is loaded again.
  for (let loads = 0; loads < 3 && !(await isShown(button)); loads++) await load(page, tag).then(goThere)
  await button.click()
  const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/{}]+')}$`)
  const received = page.waitForResponse(
    (response) => response.request().method() === method && pattern.test(new URL(response.url()).pathname),
  )
  const [response] = await Promise.all([
    received,
    page.getByRole('button', { name: /^Send/ }).first().click(),
  ])
  const status = response.status()
  const text = status < 400 ? '' : (await response.text()).slice(0, 300)
  await page
    .getByText(new RegExp(`^${status} \\w+`))
    .first()
    .waitFor()
  await page.keyboard.press('Escape')
  await page.locator('.scalar-app-exit').waitFor({ state: 'hidden' })
  return { status, text }
}

/** Windows open and close at once: over all operations their fading takes longer than everything else. */
const STILL = '*, *::before, *::after { transition: none !important; animation: none !important }'

/** The page of a tag, as it is served. */
async function load(page: Page, tag: string): Promise<void> {
  await page.goto(`/docs/?tag=${encodeURIComponent(tag)}`, { waitUntil: 'networkidle' })
  await page.addStyleTag({ content: STILL })
}

/**
 * Scalar tries `eval`, and a frame that shows a file, and works without them; a stream is cancelled when its window closes.
 */
const EXPECTED = [
  /^error: policy broken: script-src eval/,
  /request has been cancelled/,
  /^error: Framing 'blob:/,
  /^error: policy broken: frame-src blob/,
]

/** Presses "Test Request" in a browser of the operations that are chosen; each sends a request that succeeds, and nothing else goes wrong. */
export async function pressEach(chosen: (all: readonly Shown[]) => readonly Shown[]): Promise<void> {
  const place = await mkdtemp(join(tmpdir(), 'svc-reference-page-'))
  const { url } = await newDatabase()
  const service = await startProcess({ DATABASE_URL: url, SVC_MASTER_KEY: MASTER_KEY, DATA_DIR: place })
  const browser = await openBrowser()
  onTestFinished(async () => {
    await browser.close()
    await service.end('SIGTERM')
    await rm(place, { recursive: true, force: true })
  })
  const { page, trouble, close } = await newVisitor(browser, { baseUrl: service.baseUrl, expected: EXPECTED })
  page.setDefaultTimeout(60_000)
  const shown = chosen(await operationsShown(service.baseUrl))
  const wrong: unknown[] = []
  for (const [i, operation] of shown.entries()) {
    if (operation.tag !== shown[i - 1]?.tag) await load(page, operation.tag)
    const { status, text } = await press(page, operation)
    const { operationId } = operation
    if (status !== (OTHERS[operationId] ?? 200)) wrong.push([operationId, status, text])
  }
  expect(wrong).toEqual([])
  expect(trouble).toEqual([])
  await close()
}
