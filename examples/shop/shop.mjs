// A small shop in front of a sandbox (`npm start`): an order has a QR code, waits for its payment, and may be cancelled or
// refunded. Webhooks keep orders current when no request waits for them. Run it: node shop.mjs
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Svc, verifyWebhook } from '@svc/sdk'

const sandbox = await Svc.sandbox()
const { merchant } = sandbox // in production: Svc.merchant({ baseUrl, apiKey })

/** Orders by the id of their code; in your database. */
const orders = new Map()

/** Places an order. The reference makes a repeat return the same code. */
async function place(name, rupees) {
  const referenceNumber = `${name}-${Date.now()}`
  const code = await merchant.qrCodes.create({
    qrName: name,
    amount: rupees,
    fixedAmount: true,
    referenceNumber,
  })
  orders.set(code.qrCodeId, { name, rupees, status: 'open' })
  return code.qrCodeId
}

/** Waits until the order is paid, or gives it up: after the cancel no payment counts, also one that is under way. */
async function waitForPayment(qrCodeId, milliseconds) {
  const signal = AbortSignal.timeout(milliseconds)
  const ended = await merchant.qrCodes.waitForPayment(qrCodeId, { signal }).catch((error) => {
    if (!signal.aborted) throw error
  })
  if (ended === undefined) await merchant.qrCodes.cancel(qrCodeId)
}

async function refund(qrCodeId, rupees) {
  for await (const payment of merchant.qrCodes.payments(qrCodeId))
    if (payment.status === 'ACCEPTED')
      return merchant.payments.refund(payment.paymentId, {
        amount: rupees,
        referenceNumber: `refund-${payment.paymentId}`,
      })
}

/** What an event says of an order. An event may come twice, and late: each sets a status, and none adds. */
const STATUS = {
  'qr_code.credited': 'paid',
  'qr_code.cancelled': 'cancelled',
  'payment.refunded': 'refunded',
}

const server = createServer((request, response) => void receive(request, response))

async function receive(request, response) {
  const rawBody = Buffer.concat(await request.toArray())
  try {
    const { type, data } = verifyWebhook(rawBody, request.headers, endpoint.secret)
    response.writeHead(204).end()
    const order = orders.get(data.qrCodeId)
    // A code for one payment is used up by it, and says so by a cancellation of its own.
    const isUsedUp = type === 'qr_code.cancelled' && data.reason === 'paid'
    if (order && STATUS[type] && !isUsedUp) {
      order.status = STATUS[type]
      console.log(`${order.name}: ${order.status}`)
      server.emit('order')
    }
  } catch {
    response.writeHead(400).end()
  }
}
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${server.address().port}/hook`
const endpoint = await merchant.webhooks.create({ url, types: Object.keys(STATUS) })

/** Resolves when a webhook has brought the order into this status. */
async function until(qrCodeId, status) {
  while (orders.get(qrCodeId).status !== status) await once(server, 'order')
}

// Asha pays for tea; half of it goes back to her.
const tea = await place('Tea', 120)
const paying = sandbox.pay({ qrCodeId: tea, payerVpa: 'asha@bank' })
await waitForPayment(tea, 60_000)
await paying
await until(tea, 'paid')
await refund(tea, 60)
await until(tea, 'refunded')

// Ravi does not pay for his cake in time; what he pays later goes back.
const cake = await place('Cake', 300)
await waitForPayment(cake, 1_000)
await until(cake, 'cancelled')
const late = await sandbox.pay({ qrCodeId: cake, payerVpa: 'ravi@bank' })
console.log(`too late: ${late.payment?.reason}`)

await merchant.webhooks.delete(endpoint.endpointId)
server.close()
