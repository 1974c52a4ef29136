import type { Socket } from 'node:net'
import { connectionOptions } from '@svc/platform/db/connection-options'
import { DatabaseClient } from '@svc/platform/db/server-locator'
import { expect, test } from 'vitest'
import { freePort } from '../harness/free-port.ts'

type Wire = { readonly connection: { readonly stream: Socket } }

test('a connection that found no primary ends silently at its time limit, and ends nothing else', async () => {
  const [one, other] = [await freePort(), await freePort()]
  const url = `postgresql://svc@127.0.0.1:${one},127.0.0.1:${other}/svc?target_session_attrs=read-write`
  const client = new DatabaseClient(connectionOptions({ url }, 'svc_service'))
  await expect(client.connect()).rejects.toThrow('none of the database hosts accepts writes')
  // What Node emits after an hour without a byte.
  const { stream } = (client as unknown as Wire).connection
  const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()))
  stream.emit('timeout')
  await closed
})
