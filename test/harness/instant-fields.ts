import { EARLIEST, LATEST } from '../../packages/kernel/test/instants.ts'
import type { ApiResponse, Json } from './client.ts'
import type { ConsoleResponse } from './console.ts'

/** What a request with one instant in it led to. */
export interface Outcome {
  readonly status: number
  readonly text: string
  /** The instant as the response has it. */
  readonly instant?: string
  /** Of a filter: whether it let the record pass. */
  readonly found?: boolean
}

export interface Field {
  readonly send: (text: string) => Promise<Outcome>
  /** Instants that the operation accepts. */
  readonly instants: readonly Date[]
  /** Of a filter: which instants let the record pass. */
  readonly finds?: (instant: Date) => boolean
}

export const HOUR_MS = 3_600_000
export const EDGES = [new Date(EARLIEST), new Date(LATEST)] as const

export const after = (ms: number): Date => new Date(Math.floor((Date.now() + ms) / 1_000) * 1_000 + 100)
export const reported = (
  response: ApiResponse | ConsoleResponse,
  read: (json: Json) => Partial<Outcome>,
): Outcome => ({
  status: response.status,
  text: response.text,
  ...(response.status === 200 && read(response.json.payload ?? response.json)),
})

/** A pair of filters, `from` inclusive and `to` exclusive, over a record of about this time. */
export const range = (
  names: readonly [from: string, to: string],
  find: (query: Record<string, string>) => Promise<Outcome>,
): Record<string, Field> => {
  const instants = [after(-HOUR_MS), after(HOUR_MS), ...EDGES]
  const [from, to] = names
  return {
    [from]: {
      send: (text) => find({ [from]: text }),
      instants,
      finds: (at) => at.getTime() < Date.now(),
    },
    [to]: { send: (text) => find({ [to]: text }), instants, finds: (at) => at.getTime() > Date.now() },
  }
}

export const named = (operation: string, found: Record<string, Field>): Record<string, Field> =>
  Object.fromEntries(Object.entries(found).map(([name, field]) => [`${operation} ${name}`, field]))
