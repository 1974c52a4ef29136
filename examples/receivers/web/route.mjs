// Web standards: app/hook/route.ts of Next.js, a handler of Hono, SvelteKit, Bun, Deno or Cloudflare Workers.
import { verifyWebhook } from '@svc/sdk'

const seen = new Set() // in your database, with a unique index

export async function POST(request) {
  const rawBody = await request.text() // not request.json(): the signature is over the text as it came
  let event
  try {
    event = verifyWebhook(rawBody, request.headers, process.env.WEBHOOK_SECRET)
  } catch {
    return new Response(null, { status: 400 }) // not from the service
  }
  const id = request.headers.get('webhook-id')
  if (!seen.has(id)) {
    seen.add(id)
    console.log('received', event.type, event.data.amount) // slow work: a queue, or after() of next/server
  }
  return new Response(null, { status: 204 })
}
