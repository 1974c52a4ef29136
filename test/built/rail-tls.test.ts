import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { signNotice } from '@svc/server/http/notice-signature'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RAIL_KEY } from '../harness/live.ts'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import { creditOf } from '../harness/qr-codes.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-rail-tls-'))
const file = (name: string) => join(folder, name)
let service: ServiceProcess
const agents: Agent[] = []

async function newCertificate(name: string): Promise<void> {
  const req = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=${name}`
  const files = ['-keyout', file(`${name}.key`), '-out', file(`${name}.crt`)]
  await promisify(execFile)('openssl', [
    ...req.split(' '),
    '-addext',
    'subjectAltName=IP:127.0.0.1',
    ...files,
  ])
}

beforeAll(async () => {
  await Promise.all(['server', 'bank', 'other'].map(newCertificate))
  copyFileSync(file('bank.crt'), file('clients.pem'))
  service = await startProcess({
    DATA_DIR: file('data'),
    TLS_CERT_FILE: file('server.crt'),
    TLS_KEY_FILE: file('server.key'),
    RAIL_CLIENT_CA_FILE: file('clients.pem'),
    UPI_RAIL_KEYS: RAIL_KEY,
  })
})
afterAll(async () => {
  for (const agent of agents) agent.destroy()
  await service?.end('SIGTERM')
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

/** Connections of a client with this certificate, or without one; each request makes a new one, in the same session. */
function clientOf(name?: string): Agent {
  const own =
    name === undefined
      ? {}
      : { cert: readFileSync(file(`${name}.crt`)), key: readFileSync(file(`${name}.key`)) }
  const agent = new Agent({ ca: readFileSync(file('server.crt')), ...own })
  agents.push(agent)
  return agent
}

interface Got {
  readonly status: number | undefined
  readonly text: string
  readonly isResumed: boolean
}

const send = (
  agent: Agent,
  path: string,
  body?: string,
  headers: Record<string, string> = {},
): Promise<Got> =>
  new Promise((resolve, reject) => {
    const sent = request(
      service.baseUrl + path,
      { agent, method: body === undefined ? 'GET' : 'POST', headers },
      (response) => {
        const isResumed = (response.socket as TLSSocket).isSessionReused()
        let text = ''
        response.on('data', (part: Buffer) => (text += part.toString()))
        response.on('end', () => resolve({ status: response.statusCode, text, isResumed }))
      },
    )
    sent.once('error', reject)
    sent.end(body)
  })

/** A notice of a payment with a signature that is right. */
function notify(agent: Agent): Promise<Got> {
  const body = JSON.stringify(creditOf('NOSUCHCODE'))
  const signature = signNotice(Buffer.from(body), RAIL_KEY, Date.now())
  return send(agent, '/rails/upi/credits', body, {
    'content-type': 'application/json',
    'x-rail-signature': signature,
  })
}

const REFUSED = 'The connection has no client certificate that RAIL_CLIENT_CA_FILE trusts'

test('a client with a listed certificate reaches the rails, and its signature is verified as well', async () => {
  const bank = clientOf('bank')
  expect((await notify(bank)).status).toBe(200)
  const unsigned = await send(bank, '/rails/upi/credits', '{}', { 'content-type': 'application/json' })
  expect(unsigned.status).toBe(401)
  expect(unsigned.text).not.toContain(REFUSED)
})

test.each([
  ['no certificate', undefined],
  ['a certificate that is not listed', 'other'],
])(
  'a client with %s reaches no rail, not even in a resumed session, but everything else',
  async (_, name) => {
    const client = clientOf(name)
    const ordinary = await send(client, '/livez')
    expect(ordinary.status).toBe(200)
    const resumed = await notify(client)
    expect(resumed.isResumed).toBe(true)
    expect(resumed.status).toBe(401)
    expect(resumed.text).toContain(REFUSED)
    const cards = await send(client, '/rails/cards/authorizations', '{}', {
      'content-type': 'application/json',
    })
    expect(cards.text).toContain(REFUSED)
  },
)

test('a changed list applies to new connections, and ends the sessions of the previous list', async () => {
  const [bank, other] = [clientOf('bank'), clientOf('other')]
  await notify(bank)
  copyFileSync(file('other.crt'), file('clients.pem'))
  await expect.poll(async () => (await notify(other)).status, { timeout: 60_000 }).toBe(200)
  expect((await notify(bank)).text).toContain(REFUSED)
})
