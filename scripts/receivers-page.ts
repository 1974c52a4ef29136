import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Shown {
  readonly title: string
  readonly file: string
  readonly language: string
  readonly about?: string
}

const SHOWN: readonly Shown[] = [
  {
    title: 'Next.js, Hono, SvelteKit, Workers, Bun, Deno',
    file: 'web/route.mjs',
    language: 'js',
    about: 'One handler on web standards: Next.js calls it from `app/hook/route.ts`.',
  },
  { title: 'Express', file: 'express/server.mjs', language: 'js' },
  { title: 'Fastify', file: 'fastify/server.mjs', language: 'js' },
  { title: 'Node without a framework', file: 'node/server.mjs', language: 'js' },
  { title: 'FastAPI', file: 'fastapi/server.py', language: 'python' },
  { title: 'Django', file: 'django/server.py', language: 'python' },
  {
    title: 'Python without a library',
    file: 'python/server.py',
    language: 'python',
    about: 'The whole verification with the standard library alone.',
  },
  { title: 'PHP and Laravel', file: 'php/hook.php', language: 'php' },
  { title: 'Java and Spring', file: 'java/Receiver.java', language: 'java' },
]

const NEST = `import { BadRequestException, Controller, Headers, HttpCode, Module, Post, type RawBodyRequest, Req } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { verifyWebhook } from '@svc/sdk'

@Controller()
class Hooks {
  @Post('hook')
  @HttpCode(204)
  // No @Body(): a global ValidationPipe would come before the signature.
  receive(@Req() request: RawBodyRequest<Request>, @Headers() headers: Record<string, string>): void {
    try {
      const event = verifyWebhook(request.rawBody!, headers, process.env.WEBHOOK_SECRET!)
      setImmediate(() => console.log('received', event.type)) // after the response, and once for each webhook-id
    } catch {
      throw new BadRequestException() // not from the service
    }
  }
}

@Module({ controllers: [Hooks] })
class App {}

// rawBody keeps the bytes that were sent beside the parsed body.
const app = await NestFactory.create(App, { rawBody: true })
await app.listen(3000)
`

/** The guide to receivers, with the files of examples/receivers as the tests run them. */
export function receiversPage(root: string, generated: string): string {
  const sections = SHOWN.map(({ title, file, language, about }) => {
    const code = readFileSync(join(root, 'examples/receivers', file), 'utf8')
    return `## ${title}\n\n${about ? `${about}\n\n` : ''}\`\`\`${language}\n${code}\`\`\`\n`
  })
  return `# Receivers of webhooks

${generated}
A receiver verifies the signature over the bytes that were sent. **When every delivery gets 400, a parser ran first**: a body that a framework has parsed and written again has other bytes. So each receiver below gets at the raw body, then does the same five things: verify, respond with 400 to what is not genuine, respond with 2xx before slow work, skip a \`webhook-id\` that it has, work.

They are the files of \`examples/receivers\`. A test starts each with a sandbox and sends it a real delivery, a repeat, a forged one, one that was written again, and an old one. Those in JavaScript need [\`@svc/sdk\`](../../packages/sdk/README.md), those in Python, PHP and Java the [client](clients.md) of the language beside them. [Events and webhooks](webhooks.md) explains the rest.

${sections.join('\n')}
## Nest

The tests do not run this one.

\`\`\`ts
${NEST}\`\`\`
`
}
