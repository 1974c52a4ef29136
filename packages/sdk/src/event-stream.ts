/** One message of a stream of server-sent events. */
export interface Message {
  readonly id: string
  readonly data: string
}

/** The messages of a `text/event-stream` (WHATWG HTML, section 9.2.6) as they come; comments are passed over. */
export async function* messagesOf(response: Response): AsyncGenerator<Message, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of response.body ?? []) {
    const blocks = (rest + decoder.decode(bytes as Uint8Array, { stream: true })).split('\n\n')
    rest = blocks.pop()!
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]))
      const data = fields.get('data')
      if (data !== undefined) yield { id: fields.get('id') ?? '', data }
    }
  }
}
