import { Anchor, Group, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Kind, kindOf, pathOf, shortId } from '../objects.ts'
import { Copy } from './copy.tsx'

interface ObjectLinkProps {
  readonly kind: Kind
  readonly id: string
  /** What to call it; its shortened id when left out. */
  readonly children?: ReactNode
}

export function ObjectLink({ kind, id, children }: ObjectLinkProps) {
  return (
    <Anchor
      component={Link}
      to={pathOf(kind, id)}
      inherit
      title={id}
      {...(!children && { ff: 'monospace', fz: '0.9em', style: { whiteSpace: 'nowrap' } })}
    >
      {children ?? shortId(id)}
    </Anchor>
  )
}

/** A link in a table to a place of the console. */
export const NamedLink = ({ to, children }: { readonly to: string; readonly children: ReactNode }) => (
  <Anchor component={Link} to={to} inherit>
    {children}
  </Anchor>
)

/** Links an id whose prefix names its kind; others are shown as they are. */
interface IdLinkProps {
  readonly id: string
  readonly short?: boolean
  /** What to call it, where that is known. */
  readonly name?: string | undefined
}

export function IdLink({ id, name, short = true }: IdLinkProps) {
  const kind = kindOf(id)
  if (kind && name !== undefined)
    return (
      <ObjectLink kind={kind} id={id}>
        {name}
      </ObjectLink>
    )
  const look = {
    inherit: true,
    ff: 'monospace',
    fz: '0.9em',
    title: id,
    children: short ? shortId(id) : id,
    ...(short && { style: { whiteSpace: 'nowrap' } }),
  } as const
  return kind ? <Anchor component={Link} to={pathOf(kind, id)} {...look} /> : <Text span {...look} />
}

/** A whole id, to be read out or copied. */
export function Id({ id, what }: { readonly id: string; readonly what: string }) {
  return (
    <Group gap={2} wrap="nowrap">
      <Text span ff="monospace" size="sm" style={{ overflowWrap: 'anywhere' }}>
        {id}
      </Text>
      <Copy text={id} what={what} />
    </Group>
  )
}
