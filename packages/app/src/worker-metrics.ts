interface Family {
  readonly head: string
  readonly samples: string[]
}

/**
 * The metrics of all workers as one text of Prometheus, each sample with the label `worker`: the counters of a worker
 * that was replaced begin at 0 in their own series, which a sum over the workers would hide.
 */
export function mergeMetrics(texts: Iterable<readonly [worker: string, text: string]>): string {
  const families = new Map<string, Family>()
  for (const [worker, text] of texts)
    for (const part of text.split(/^(?=# HELP )/m)) {
      const lines = part.split('\n').filter((line) => line !== '')
      const head = lines.filter((line) => line.startsWith('#')).join('\n')
      if (head === '') continue
      const family = families.get(head) ?? { head, samples: [] }
      families.set(head, family)
      for (const line of lines) if (!line.startsWith('#')) family.samples.push(labelled(line, worker))
    }
  return [...families.values()].map(({ head, samples }) => `${[head, ...samples].join('\n')}\n`).join('\n')
}

/** `name{a="b"} 1` or `name 1`, the form in which the library writes samples. */
const labelled = (sample: string, worker: string): string =>
  sample.replace(/^[\w:]+(\{?)/, (name, brace: string) =>
    brace === '' ? `${name}{worker="${worker}"}` : `${name}worker="${worker}",`,
  )
