import { Anchor, Group, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Kind, kindOf, pathOf, shortId } from '../objects.ts'
import { Copy } from './copy.tsx'
import { dayText } from './instant.tsx'
import { hasName, useName } from './names.ts'

const UNDERLINED = { underline: 'always' } as const

interface ObjectLinkProps {
  readonly kind: Kind
  readonly id: string
  /** What to call it; the name that the service has for it when left out. */
  readonly children?: ReactNode
  /** Amid other text, where colour alone does not show that it leads somewhere. */
  readonly inText?: boolean
}

export function ObjectLink({ kind, id, children, inText = false }: ObjectLinkProps) {
  if (!children) return <Called kind={kind} id={id} inText={inText} />
  return (
    <Anchor component={Link} to={pathOf(kind, id)} inherit title={id} {...(inText && UNDERLINED)}>
      {children}
    </Anchor>
  )
}

function Called({ kind, id, inText }: Omit<ObjectLinkProps, 'children'>) {
  const { isPending, name } = useName(id)
  return (
    <Anchor
      component={Link}
      to={pathOf(kind, id)}
      inherit
      title={id}
      {...(inText && UNDERLINED)}
      {...(isPending && { 'data-loading': true })}
      {...(!name && LIKE_ID)}
      {...(!hasName(id) && { 'data-id': true })}
    >
      {name ?? shortId(id)}
    </Anchor>
  )
}

const LIKE_ID = { ff: 'monospace', fz: '0.9em', style: { whiteSpace: 'nowrap' } } as const

interface NamedLinkProps {
  readonly to: string
  readonly children: ReactNode
  /** Amid other text. */
  readonly inText?: boolean
}

/** A link in a table or a text to a place of the application. */
export const NamedLink = ({ to, children, inText = false }: NamedLinkProps) => (
  <Anchor component={Link} to={to} inherit {...(inText && UNDERLINED)}>
    {children}
  </Anchor>
)

/** Links an id whose prefix names its kind; others are shown as they are. */
interface IdLinkProps {
  readonly id: string
  readonly short?: boolean
  /** What to call it, where that is known. */
  readonly name?: string | undefined
  readonly inText?: boolean
}

export function IdLink({ id, name, short = true, inText = false }: IdLinkProps) {
  const kind = kindOf(id)
  if (kind)
    return (
      <ObjectLink kind={kind} id={id} inText={inText}>
        {name ?? (short ? undefined : id)}
      </ObjectLink>
    )
  return (
    <Text span inherit title={id} data-id {...LIKE_ID}>
      {short ? shortId(id) : id}
    </Text>
  )
}

const IN_TEXT = /\b([a-z]{2,4}_[0-9a-z]{26})\b/

const DAYS = /\b\d{4}-\d{2}-\d{2}\b(?!T)/g

/** Text with names in the place of the ids in it, and its days as people write them. */
export const WithNames = ({ text }: { readonly text: string }) =>
  text.split(IN_TEXT).map((part, index) =>
    // Parts are never reordered; each second one is an id.
    // oxlint-disable-next-line react/no-array-index-key
    index % 2 === 0 ? part.replaceAll(DAYS, dayText) : <IdLink key={index} id={part} inText />,
  )

interface IdProps {
  readonly id: string
  readonly what: string
  /** In tables; what is copied is whole. */
  readonly short?: boolean
}

/** An id, to be read out or copied. */
export function Id({ id, what, short = false }: IdProps) {
  return (
    <Group gap={2} wrap="nowrap" data-id>
      <Text span ff="monospace" size="sm" style={{ overflowWrap: 'anywhere' }}>
        {short ? shortId(id) : id}
      </Text>
      <Copy text={id} what={what} />
    </Group>
  )
}
