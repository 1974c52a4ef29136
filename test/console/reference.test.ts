import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BROWSER, newVisitor, openBrowser } from '../harness/browser.ts'
import type { Json } from '../harness/client.ts'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import { MASTER_KEY, newDatabase } from '../harness/service.ts'

let place: string
let service: ServiceProcess
let browser: Browser

beforeAll(async () => {
  if (!BROWSER) return
  place = await mkdtemp(join(tmpdir(), 'svc-reference-page-'))
  const db = await newDatabase()
  service = await startProcess({ DATABASE_URL: db.url, SVC_MASTER_KEY: MASTER_KEY, DATA_DIR: place })
  browser = await openBrowser()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await service?.end('SIGTERM')
  if (place) await rm(place, { recursive: true, force: true })
})

/** The bank of the sandbox has confirmed no refund, so 404 is right. */
const OTHERS: Record<string, number> = { confirmRefund: 404 }

interface Shown {
  readonly operationId: string
  readonly path: string
  readonly method: string
  readonly tag: string
}

async function operationsShown(): Promise<Shown[]> {
  const document = (await (await fetch(`${service.baseUrl}/openapi.json`)).json()) as Json
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

/** Presses "Test Request" of an operation, then "Send"; resolves with the response that the browser receives. */
async function press(page: Page, { path, method, tag }: Shown): Promise<{ status: number; text: string }> {
  const anchor = `tag/${tag.toLowerCase().replaceAll(' ', '-')}/${method}${path}`
  // Opens the operation as its link in the sidebar does.
  await page.evaluate(`location.hash = ${JSON.stringify(anchor)}`)
  const section = page.locator(`[id="api-1/${anchor}"]`)
  await section.getByRole('button', { name: 'Test Request' }).click()
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

/** With all hundred of them, the page takes seconds for each click: it is loaded for so many at a time. */
const OPERATIONS_A_PAGE = 8

/** Leaves the operations in the page's document that it is to show; all the rest is as the service sends it. */
const LEAVE_OUT = `
  const real = window.fetch
  window.fetch = async (...asked) => {
    const response = await real(...asked)
    if (!response.url.endsWith('/openapi.json')) return response
    const shown = JSON.parse(sessionStorage.getItem('shown') ?? '[]')
    const document = await response.json()
    for (const methods of Object.values(document.paths))
      for (const [method, { operationId }] of Object.entries(methods))
        if (!shown.includes(operationId)) delete methods[method]
    return new Response(JSON.stringify(document), { headers: response.headers })
  }`

/**
 * Scalar tries `eval`, and a frame that shows a file, and works without them; a stream is cancelled when its window closes;
 * `OTHERS` fail on purpose.
 */
const EXPECTED = [
  /^error: policy broken: script-src eval/,
  /request has been cancelled/,
  /^error: Framing 'blob:/,
  /^error: policy broken: frame-src blob/,
  /status of 404 .*refunds/,
]

test.skipIf(!BROWSER)(
  'in a browser, "Test Request" of every operation of the sandbox sends a request that succeeds',
  async () => {
    const options = { baseUrl: service.baseUrl, expected: EXPECTED }
    const { page, trouble, close } = await newVisitor(browser, options)
    page.setDefaultTimeout(60_000)
    await page.addInitScript(LEAVE_OUT)
    await page.goto('/docs/')
    const open = async (operations: readonly Shown[]) => {
      const ids = operations.map(({ operationId }) => operationId)
      await page.evaluate(`sessionStorage.setItem('shown', ${JSON.stringify(JSON.stringify(ids))})`)
      await page.goto('/docs/', { waitUntil: 'networkidle' })
      await page.addStyleTag({ content: STILL })
    }
    const shown = await operationsShown()
    expect(shown.length).toBeGreaterThan(90)
    const wrong: unknown[] = []
    for (const [i, operation] of shown.entries()) {
      if (i % OPERATIONS_A_PAGE === 0) await open(shown.slice(i, i + OPERATIONS_A_PAGE))
      const { status, text } = await press(page, operation)
      const { operationId } = operation
      if (status !== (OTHERS[operationId] ?? 200)) wrong.push([operationId, status, text])
    }
    expect(wrong).toEqual([])
    expect(trouble).toEqual([])
    await close()
  },
  // A hundred operations, each opened, sent and shown.
  900_000,
)
