import { once } from 'node:events'
import { createServer } from 'node:net'

interface Address {
  readonly HOST: string
  readonly PORT: number
}

const CANNOT_LISTEN = new Set(['EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'])

/** What to do about an address that cannot be listened on; any other error as it is. */
export function listenError(error: unknown, { HOST, PORT }: Address): unknown {
  const { code = '' } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return new Error(
      `Port ${PORT} on ${HOST} is taken. Choose another one, for example: PORT=8090 npm start`,
      { cause: error },
    )
  if (CANNOT_LISTEN.has(code))
    return new Error(`Cannot listen on ${HOST}:${PORT} (${code}). Check HOST and PORT.`, { cause: error })
  return error
}

/** Throws where the service could not listen: found before anything is created that it would leave behind. */
export async function expectListenable(address: Address): Promise<void> {
  const probe = createServer()
  try {
    probe.listen({ host: address.HOST, port: address.PORT })
    await once(probe, 'listening')
  } catch (error) {
    throw listenError(error, address)
  }
  await new Promise((resolve) => probe.close(resolve))
}
