// Fastify: PORT=3000 WEBHOOK_SECRET=whsec_… node server.mjs
import { verifyWebhook } from '@svc/sdk'
import fastify from 'fastify'

const seen = new Set() // in your database, with a unique index
const app = fastify()

// A scope of its own: here alone JSON arrives as the bytes that were sent.
app.register(async (hooks) => {
  hooks.removeContentTypeParser('application/json')
  hooks.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
  hooks.post('/hook', async (request, reply) => {
    let event
    try {
      event = verifyWebhook(request.body, request.headers, process.env.WEBHOOK_SECRET)
    } catch {
      return reply.code(400).send() // not from the service
    }
    const id = request.headers['webhook-id']
    if (!seen.has(id)) {
      seen.add(id)
      setImmediate(() => console.log('received', event.type, event.data.amount)) // after the response
    }
    return reply.code(204).send()
  })
})
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
console.log('listening')
