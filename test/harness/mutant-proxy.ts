import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Agent } from 'undici'
import type { Json } from './client.ts'

/** A request on its way to the service: a mutant may change it. */
export interface ProxiedRequest {
  readonly method: string
  path: string
  readonly headers: Record<string, string>
  body: Buffer
}

/** An answer on its way to the caller: a mutant may change it. `json` is written back when it is an object. */
export interface Reported {
  status: number
  headers: Record<string, string | string[]>
  text: string
  json: Json
}

/** One way in which a server is wrong. */
export interface Mutation {
  edit?(forwarded: ProxiedRequest): void | 'hang' | 'close' | Promise<void | 'hang' | 'close'>
  report?(reported: Reported, forwarded: ProxiedRequest): void | Promise<void>
}

export interface MutantProxy {
  readonly baseUrl: string
  close(): Promise<void>
}

const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host'])

/** The service at `target`, wrong in one way. */
export async function startMutant(target: string, mutation: Mutation): Promise<MutantProxy> {
  const agent = new Agent({ connections: 32, maxHeaderSize: 64 * 1024 })
  const sockets = new Set<Socket>()
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    forward(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const forwarded: ProxiedRequest = {
      method: request.method!,
      path: request.url!,
      headers: Object.fromEntries(
        Object.entries(request.headers)
          .filter(([name]) => !HOP_BY_HOP.has(name))
          .map(([name, value]) => [name, String(value)]),
      ),
      body: Buffer.concat(parts),
    }
    const trick = await mutation.edit?.(forwarded)
    if (trick === 'hang') return
    if (trick === 'close') return void response.destroy()
    const reply = await agent.request({
      origin: target,
      path: forwarded.path,
      method: forwarded.method as 'GET',
      headers: forwarded.headers,
      ...(forwarded.body.length > 0 && { body: forwarded.body }),
    })
    const text = await reply.body.text()
    const headers = Object.fromEntries(
      Object.entries(reply.headers).filter(([name, value]) => value !== undefined && !HOP_BY_HOP.has(name)),
    ) as Reported['headers']
    const json: Json = String(headers['content-type']).includes('json') && text ? JSON.parse(text) : undefined
    const reported: Reported = { status: reply.statusCode, headers, text, json }
    const before = JSON.stringify(json)
    await mutation.report?.(reported, forwarded)
    if (reported.json && JSON.stringify(reported.json) !== before)
      reported.text = JSON.stringify(reported.json)
    response.writeHead(reported.status, reported.headers).end(reported.text)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
      await agent.destroy()
    },
  }
}
