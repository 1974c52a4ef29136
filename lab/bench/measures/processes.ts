import { randomBytes } from 'node:crypto'
import { signNotice } from '@svc/server/http/notice-signature'
import { type Bed, PAID_CODES, trOf } from '../bed.ts'
import { type Contender, contest, httpContender } from '../contest.ts'
import { closedLoop, type Load, requestBytes } from '../load.ts'
import type { ServerProcess } from '../server-process.ts'
import type { Measure } from './measure.ts'

function credits(bed: Bed, { port }: ServerProcess, seconds: number): Load {
  const run = randomBytes(6).toString('hex')
  const requests = Array.from({ length: Math.ceil(seconds) * 6_000 }, (_, n) => {
    const body = Buffer.from(
      JSON.stringify({ utr: `S${run}${n}`, tr: trOf(n % PAID_CODES), amount: 10, payerVpa: 'payer@bank' }),
    )
    const signature = signNotice(body, bed.railKey, Date.now())
    const headers = { 'content-type': 'application/json', 'x-rail-signature': signature }
    return requestBytes('POST', '/rails/upi/credits', headers, body)
  })
  return { port, next: (n) => requests[n] }
}

/** All callers of a phase spread over several processes. */
const shared = (name: string, bed: Bed, services: readonly ServerProcess[]): Contender => ({
  name,
  unit: 'requests',
  pids: [...services.map(({ pid }) => pid), bed.postmasterPid],
  async run({ callers, seconds }) {
    const loads = services.map((service) => credits(bed, service, seconds))
    const startMs = performance.now()
    const each = Math.max(1, Math.round(callers / services.length))
    const rates = await Promise.all(loads.map((load) => closedLoop(load, each, seconds)))
    const done = rates.reduce((sum, { requests }) => sum + requests, 0)
    return { done, seconds: (performance.now() - startMs) / 1_000 }
  },
})

export const severalProcesses: Measure = {
  id: 'processes',
  title: 'Accept payments with several processes on one PostgreSQL',
  onlyWith: '--full',
  async run(setting) {
    const { bed } = setting
    const others = [await bed.startService(), await bed.startService()]
    try {
      const one = [bed.service]
      const figures = await contest({
        ...setting,
        contenders: [
          shared('1 process', bed, one),
          shared('2 processes', bed, [...one, others[0]!]),
          shared('3 processes', bed, [...one, ...others]),
        ],
      })
      return {
        figures,
        comparisons: [
          { of: '2 processes', to: '1 process' },
          { of: '3 processes', to: '1 process' },
        ],
      }
    } finally {
      for (const service of others) await service.end()
    }
  },
}

export const sockets: Measure = {
  id: 'sockets',
  title: 'Accept payments through PostgreSQL’s Unix socket and through TCP',
  onlyWith: '--full',
  async run(setting) {
    const { bed } = setting
    const overTcp = await bed.startService(`postgresql://postgres@127.0.0.1:${bed.port}/svc`)
    try {
      const of = (name: string, service: ServerProcess) =>
        httpContender(name, [service.pid, bed.postmasterPid], () => credits(bed, service, setting.seconds))
      const figures = await contest({
        ...setting,
        contenders: [of('Unix socket', bed.service), of('TCP', overTcp)],
      })
      return { figures, comparisons: [{ of: 'Unix socket', to: 'TCP' }] }
    } finally {
      await overTcp.end()
    }
  },
}
