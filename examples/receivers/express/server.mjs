// Express: PORT=3000 WEBHOOK_SECRET=whsec_… node server.mjs
import { verifyWebhook } from '@svc/sdk'
import express from 'express'

const seen = new Set() // in your database, with a unique index
const app = express()

// The raw body, for this route alone. Declare it before any app.use(express.json()).
app.post('/hook', express.raw({ type: 'application/json' }), (request, response) => {
  let event
  try {
    event = verifyWebhook(request.body, request.headers, process.env.WEBHOOK_SECRET)
  } catch {
    return response.status(400).end() // not from the service
  }
  response.status(204).end() // first respond, then work
  const id = request.headers['webhook-id']
  if (seen.has(id)) return
  seen.add(id)
  console.log('received', event.type, event.data.amount)
})
app.use(express.json()) // for all other routes
app.listen(process.env.PORT, '127.0.0.1', () => console.log('listening'))
