import { once } from 'node:events'
import { Readable } from 'node:stream'
import { FailureLog } from '@svc/server/http/failure-log'
import { mountOperations } from '@svc/server/http/mount'
import { streamingQuery } from '@svc/server/http/operation'
import { buildServer } from '@svc/server/http/server'
import { StreamSlots } from '@svc/server/http/stream-slots'
import { Type } from 'typebox'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { openService } from '../harness/service.ts'

const CALLER = { tenantId: 'mer_late' }

/** An operation whose response is a stream without an end, and comes when `open` is called. */
function lateStream(slots: StreamSlots) {
  let open: () => void = () => undefined
  const opening = new Promise<void>((resolve) => (open = resolve))
  let made: (body: Readable) => void = () => undefined
  const body = new Promise<Readable>((resolve) => (made = resolve))
  const operation = streamingQuery({
    id: 'late',
    method: 'GET',
    path: '/late',
    tag: 'Late',
    summary: 'Late',
    auth: 'none',
    envelope: 'bare',
    result: Type.String(),
    errors: ['too_many_streams'],
    mount: () => async () => {
      await opening
      const endless = slots.stream(CALLER.tenantId, CALLER, () => new Readable({ read: () => undefined }))
      made(endless)
      return { body: endless }
    },
  })
  return { operation, open, body }
}

test('a stream that is opened after its caller got a timeout is destroyed, and its slot is free again', async () => {
  const service = await openService({ env: { COMMAND_TIMEOUT_MS: '1000' } })
  const { services } = service.app
  const failureLog = new FailureLog(services.log)
  const options = { services, failureLog, authenticators: {}, admit: () => undefined }
  const server = buildServer(options)
  const slots = new StreamSlots(1)
  const late = lateStream(slots)
  mountOperations(server, [late.operation], options)
  const response = await request(`${await server.listen({ port: 0, host: '127.0.0.1' })}/late`)
  expect([response.statusCode, await response.body.text()]).toEqual([
    503,
    expect.stringContaining('temporarily_unavailable'),
  ])
  late.open()
  const body = await late.body
  if (!body.closed) await once(body, 'close')
  slots.stream(CALLER.tenantId, CALLER, () => Readable.from('next')).destroy()
  await server.close()
  await service.close()
})

test('a stream that cannot be opened occupies no slot', () => {
  const slots = new StreamSlots(1)
  const fails = () => {
    throw new Error('it cannot be opened')
  }
  expect(() => slots.stream(CALLER.tenantId, CALLER, fails)).toThrow('it cannot be opened')
  slots.stream(CALLER.tenantId, CALLER, () => Readable.from('next')).destroy()
})
