import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { BulkClient } from '../../../packages/cli/src/bulk-client.ts'
import { UsageError } from '../../../packages/cli/src/usage-error.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const JOB = { jobId: 'blk_1', status: 'DONE', done: 1 }
const TOKEN = '/oauth/token'
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A server that handles requests in this way; its address, and the paths that were asked for. */
async function serve(handle: Handler): Promise<{ readonly baseUrl: string; readonly seen: string[] }> {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(request.url!)
    handle(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

/** A service that handles its first request for a path in this way, and then serves. */
function servingAfter(path: string, handleFirst: Handler): Handler {
  let isFirst = true
  return (request, response) => {
    if (isFirst && request.url === path) {
      isFirst = false
      handleFirst(request, response)
    } else response.end(JSON.stringify(request.url === TOKEN ? { access_token: 'a' } : { payload: JOB }))
  }
}

const clientOf = (baseUrl: string, limitMs = 30_000) =>
  new BulkClient(
    { baseUrl, partnerId: 'p', clientId: 'c', clientSecret: 'secret' },
    { callMs: limitMs, uploadMs: limitMs },
  )

const PROGRESS = '/api/v0/partner/svcCard/bulk/blk_1'
const STEPS = [
  ['the request for a token', TOKEN],
  ['a call', PROGRESS],
] as const

test.each(STEPS)(
  'a redirect of %s is rejected and reported, and nothing is sent to the other server',
  async (_, path) => {
    const other = await serve((_request, response) => void response.end('{}'))
    const location = `${other.baseUrl}${path}`
    const service = await serve(
      servingAfter(path, (_request, response) => void response.writeHead(307, { location }).end('moved')),
    )
    const refusal = await clientOf(service.baseUrl)
      .progress('blk_1')
      .catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(UsageError)
    expect((refusal as Error).message).toBe(
      `${service.baseUrl}${path} returned 307, a redirect to ${location}, which is not followed.\nGive the address of the service itself: --url <url>`,
    )
    expect(other.seen).toEqual([])
  },
)

test.each(STEPS)('when the response to %s is cut within its body, it is sent again', async (_, path) => {
  const { baseUrl, seen } = await serve(
    servingAfter(path, (request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"payload":', () => request.socket.destroy())
    }),
  )
  expect(await clientOf(baseUrl).progress('blk_1')).toEqual(JOB)
  expect(seen.filter((each) => each === path)).toHaveLength(2)
})

test.each(STEPS)('when %s gets no complete response within its time, it is sent again', async (_, path) => {
  for (const silence of [
    () => undefined,
    (_r: unknown, response: ServerResponse) => void response.write('{'),
  ]) {
    const { baseUrl, seen } = await serve(servingAfter(path, silence))
    expect(await clientOf(baseUrl, 500).progress('blk_1')).toEqual(JOB)
    expect(seen.filter((each) => each === path)).toHaveLength(2)
  }
})
