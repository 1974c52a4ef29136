import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ErrorCode, Failure } from '@svc/contract/errors'
import { failureBody } from '@svc/server/http/failure-body'
import { onTestFinished } from 'vitest'

/** What a proxy sends requests to: it responds 200 to everything but `/readyz`, and nothing to `/break`. */
export interface Process {
  readonly port: number
  /** Paths that it got, but for `/readyz`. */
  readonly paths: string[]
  /** Status of the response to `/readyz`. */
  readiness: () => Promise<number> | number
}

export async function openProcess(): Promise<Process> {
  const paths: string[] = []
  const server = createServer((incoming, response) => {
    if (incoming.url === '/readyz')
      return void Promise.resolve(process.readiness()).then((status) => response.writeHead(status).end())
    paths.push(incoming.url!)
    if (incoming.url === '/break') incoming.socket.destroy()
    else response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => server.close().closeAllConnections())
  const process: Process = { port: (server.address() as AddressInfo).port, paths, readiness: () => 200 }
  return process
}

/** A folder for the configuration of a proxy, with `cert.pem`, `key.pem` and both in `tls.pem`. */
export function proxyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-proxy-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name)) as [string, string]
  const options = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=svc'
  execFileSync('openssl', [...options.split(' '), '-keyout', key, '-out', cert], { stdio: 'ignore' })
  writeFileSync(join(folder, 'tls.pem'), readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'))
  return folder
}

export interface Response {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

interface Sent {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A POST over TLS; the path goes out as it is written. */
export const fetchPath = (port: number, path: string, { headers = {}, body }: Sent = {}): Promise<Response> =>
  new Promise((resolve, reject) => {
    const target = { host: '127.0.0.1', port, path, method: 'POST' }
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const options = { ...target, headers: { ...headers, ...length }, rejectUnauthorized: false, agent: false }
    request(options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }))
    })
      .once('error', reject)
      .end(body)
  })

export const statusOf = async (port: number, path: string): Promise<number> =>
  (await fetchPath(port, path)).status

/** The failure of the service with this error code that has the response's own description, request id and time. */
export function asOfTheService({ headers, text }: Response, code: ErrorCode): unknown {
  const { errorResponse, payload } = JSON.parse(text)
  const { error_description: description } = JSON.parse(payload)
  const time = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.exec(errorResponse.timestamp)
  const now = new Date(`${time?.[0].replace(' ', 'T')}Z`)
  const context = {
    envelope: 'bare',
    requestId: String(headers['x-request-id']),
    now,
    timeZone: 'UTC',
  } as const
  return JSON.parse(failureBody(new Failure(code, { description }), context))
}
