// A receiver of webhooks as a process of its own, that kills itself at random: `<port> <file> <secret> <share of deaths>`.
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

const [port, file, secret, deaths] = process.argv.slice(2)
const webhook = new Webhook(secret!)

createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const raw = Buffer.concat(parts).toString()
    const { id, sequence } = webhook.verify(raw, request.headers as Record<string, string>) as {
      id: string
      sequence: number
    }
    // Before the record, after it, or after the answer: each leaves the service with another half of the truth.
    const chance = Math.random() / Number(deaths)
    if (chance < 1 / 3) process.kill(process.pid, 'SIGKILL')
    appendFileSync(file!, `${id} ${sequence}\n`)
    if (chance < 2 / 3) process.kill(process.pid, 'SIGKILL')
    response.writeHead(204).end()
    if (chance < 1) setImmediate(() => process.kill(process.pid, 'SIGKILL'))
  })
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('listening\n'))
