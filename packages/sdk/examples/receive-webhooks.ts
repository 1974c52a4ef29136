// Receives one webhook: makes an endpoint, a code and a payment, verifies what arrives. Needs a sandbox: `npm start`.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { Svc, verifyWebhook } from '@svc/sdk'

const sandbox = await Svc.sandbox()
const { qrCodes, webhooks } = sandbox.merchant
const server = createServer()
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
const types = ['qr_code.credited'] as const
const endpoint = await webhooks.create({ url: `http://127.0.0.1:${port}/hook`, types: [...types] })

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const rawBody = Buffer.concat(await request.toArray()) // as it came, before anything parses it
    const event = verifyWebhook(rawBody, request.headers, endpoint.secret)
    response.writeHead(204).end() // respond first, then do slow work
    if (event.type === 'qr_code.credited')
      console.log(`${event.data.amount} rupees from ${event.data.payerVpa}`)
  } catch {
    response.writeHead(400).end() // not from the service
  }
  await webhooks.delete(endpoint.endpointId)
  server.close()
}
server.on('request', (request, response) => void receive(request, response))

const code = await qrCodes.create({ qrName: 'Order 1042', amount: 249.5, fixedAmount: true })
await sandbox.pay({ qrCodeId: code.qrCodeId, payerVpa: 'asha@bank' })
