import fc from 'fast-check'
import { expect, test } from 'vitest'
import { recordsOf } from '../../../packages/sdk/src/record-stream.ts'

/** The bytes as an answer that comes in pieces, cut at these places. */
function responseOf(text: string, cuts: readonly number[]): Response {
  const bytes = new TextEncoder().encode(text)
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  let from = 0
  const stream = new ReadableStream({
    start(controller) {
      for (const end of ends) {
        controller.enqueue(bytes.subarray(from, end))
        from = end
      }
      controller.close()
    },
  })
  return new Response(stream)
}

async function all<T>(records: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = []
  for await (const record of records) taken.push(record)
  return taken
}

const response = (data: readonly unknown[], recordsCount = data.length): string =>
  JSON.stringify({ code: 0, message: 'Success', payload: { data, recordsCount } })

test('records are read as they were written, wherever the network cuts the response and whatever they contain', async () => {
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true }),
    fc.boolean(),
    fc.jsonValue(),
  )
  const record = fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('[', ']', '{"', '\\', '"}')), value)
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { maxLength: 8 }),
      fc.array(fc.nat(), { maxLength: 12 }),
      async (data, cuts) => {
        const wanted = JSON.parse(JSON.stringify(data)) as unknown[]
        expect(await all(recordsOf(responseOf(response(data), cuts)))).toEqual(wanted)
      },
    ),
    { numRuns: 500 },
  )
})

test('a response that breaks off or has another count is an error, after the records received', async () => {
  const whole = response([{ a: 1 }, { a: 2 }])
  for (const text of [whole.slice(0, -1), whole.slice(0, 60), response([{ a: 1 }], 2), '']) {
    const reading = (async () => {
      for await (const record of recordsOf(responseOf(text, []))) expect(record).toHaveProperty('a')
    })()
    await expect(reading).rejects.toThrow(/broke off after \d records/)
  }
})
