// Serves route.mjs, as your framework does: PORT=3000 WEBHOOK_SECRET=whsec_… node server.mjs
import { createServer } from 'node:http'
import { POST } from './route.mjs'

async function respond(incoming, outgoing) {
  const { method, headers } = incoming
  const body = Buffer.concat(await incoming.toArray())
  const isHook = method === 'POST'
  const response = isHook ? await POST(new Request('http://localhost/hook', { method, headers, body })) : {}
  outgoing.writeHead(response.status ?? 405).end()
}

createServer((incoming, outgoing) => void respond(incoming, outgoing)).listen(process.env.PORT, '127.0.0.1')
