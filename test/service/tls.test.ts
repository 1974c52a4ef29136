import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { copyFile, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { readConfig } from '@svc/contract/config'
import { Agent } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import { MASTER_KEY, newDatabase, openService } from '../harness/service.ts'

let folder: string
let service: ServiceProcess
let dispatcher: Agent
let env: Record<string, string>

async function newCertificate(name: string): Promise<void> {
  const req = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=svc'
  const [cert, key] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)]
  const extension = ['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert]
  await promisify(execFile)('openssl', [...req.split(' '), ...extension])
}

/** As renewals do it: another file takes the place of the old one at once. */
async function put(from: string, to: string): Promise<void> {
  const part = join(folder, `${to}.part`)
  await copyFile(join(folder, from), part)
  await rename(part, join(folder, to))
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-tls-'))
  for (const name of ['first', 'second']) await newCertificate(name)
  for (const kind of ['crt', 'key']) await put(`first.${kind}`, `used.${kind}`)
  await writeFile(join(folder, 'master.key'), `${MASTER_KEY}\n`)
  const db = await newDatabase()
  env = {
    DATABASE_URL: db.url,
    SVC_MASTER_KEY_FILE: join(folder, 'master.key'),
    DATA_DIR: join(folder, 'data'),
    TLS_CERT_FILE: join(folder, 'used.crt'),
    TLS_KEY_FILE: join(folder, 'used.key'),
  }
  service = await startProcess(env)
  const ca = ['first', 'second'].map((name) => readFileSync(join(folder, `${name}.crt`), 'utf8'))
  dispatcher = new Agent({ connect: { ca } })
})
afterAll(async () => {
  await dispatcher?.close()
  await service?.end('SIGTERM')
  await rm(folder, { recursive: true, force: true })
})

/** The common way in: checked certificate, keep-alive. */
async function get(path: string): Promise<{ status: number; text: string }> {
  const response = await dispatcher.request({ origin: service.baseUrl, path, method: 'GET' })
  return { status: response.statusCode, text: await response.body.text() }
}

/** What a new connection is shown. */
const shown = (
  maxVersion?: 'TLSv1.1' | 'TLSv1.3',
): Promise<{ fingerprint: string; protocol: string | null }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.baseUrl)
    const versions = maxVersion === 'TLSv1.1' ? { maxVersion, minVersion: maxVersion } : {}
    const options = { host: hostname, port: Number(port), rejectUnauthorized: false, ...versions }
    const socket = connect(options, () => {
      resolve({ fingerprint: socket.getPeerCertificate().fingerprint256, protocol: socket.getProtocol() })
      socket.destroy()
    })
    socket.once('error', reject)
  })

test('the service speaks TLS 1.3 with the certificate of its files, and announces https addresses', async () => {
  expect(service.baseUrl).toMatch(/^https:/)
  expect((await get('/livez')).status).toBe(200)
  expect((await get('/readyz')).status).toBe(200)
  const { issuer } = JSON.parse((await get('/.well-known/oauth-authorization-server')).text)
  expect(issuer).toBe(service.baseUrl)
  expect((await shown()).protocol).toBe('TLSv1.3')
})

test('plain HTTP and TLS 1.1 get no response', async () => {
  const plain = new Promise((resolve, reject) => {
    const sent = request(service.baseUrl.replace('https', 'http'), resolve)
    sent.once('error', reject)
    sent.end()
  })
  await expect(plain).rejects.toMatchObject({ code: expect.stringMatching(/ECONNRESET|HPE/) })
  await expect(shown('TLSv1.1')).rejects.toThrow()
})

test('a replaced certificate serves new connections without a restart; a mismatched pair is not used', async () => {
  const before = (await shown()).fingerprint
  await put('second.crt', 'used.crt')
  const failed = () => service.written().includes('"loop":"tls_certificate"')
  await expect.poll(failed, { timeout: 30_000 }).toBe(true)
  expect((await shown()).fingerprint).toBe(before)
  expect((await get('/livez')).status).toBe(200)
  await put('second.key', 'used.key')
  await expect.poll(async () => (await shown()).fingerprint, { timeout: 30_000 }).not.toBe(before)
  expect((await get('/livez')).status).toBe(200)
  expect((await get('/metrics')).text).toMatch(/^svc_tls_certificate_expiry_timestamp_seconds \d/m)
})

test('a master key given by a file is neither in the environment nor in the arguments of the process', async () => {
  for (const file of ['environ', 'cmdline'])
    expect(await readFile(`/proc/${service.pid}/${file}`, 'utf8')).not.toContain(MASTER_KEY)
  expect(await readFile(`/proc/${service.pid}/environ`, 'utf8')).toContain('SVC_MASTER_KEY_FILE=')
})

test('the service does not start with an unusable certificate, and the message names the settings', async () => {
  await put('first.key', 'used.key')
  const { TLS_CERT_FILE = '', TLS_KEY_FILE = '' } = env
  await expect(openService({ env: { TLS_CERT_FILE, TLS_KEY_FILE } })).rejects.toThrow(
    /TLS_CERT_FILE and TLS_KEY_FILE cannot be used/,
  )
  expect(() => readConfig({ TLS_CERT_FILE })).toThrow(/must be set together/)
})
