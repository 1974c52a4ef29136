// Installed by `npm run bench` only, so their types are not there when the rest is checked.
declare module 'postgraphile'
declare module 'postgraphile/*'
