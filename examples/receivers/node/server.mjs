// Plain Node: PORT=3000 WEBHOOK_SECRET=whsec_… node server.mjs
import { createServer } from 'node:http'
import { verifyWebhook } from '@svc/sdk'

const seen = new Set() // in your database, with a unique index

async function receive(request, response) {
  const rawBody = Buffer.concat(await request.toArray()) // the bytes that were sent, before anything parses them
  let event
  try {
    event = verifyWebhook(rawBody, request.headers, process.env.WEBHOOK_SECRET)
  } catch {
    return response.writeHead(400).end() // not from the service
  }
  response.writeHead(204).end() // first respond, then work
  const id = request.headers['webhook-id']
  if (seen.has(id)) return
  seen.add(id)
  console.log('received', event.type, event.data.amount)
}

createServer((request, response) => void receive(request, response)).listen(
  process.env.PORT,
  '127.0.0.1',
  () => console.log('listening'),
)
