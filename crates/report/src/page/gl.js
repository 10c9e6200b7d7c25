// WebGL2, a little shorter.

function compile(gl, { vertex, fragment }) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    const logs = gl.getAttachedShaders(program).map((shader) => gl.getShaderInfoLog(shader));
    throw new Error(`a shader was refused: ${[gl.getProgramInfoLog(program), ...logs].join(" ").trim()}`);
  }
  const uniforms = {};
  const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) ?? 0;
  for (let i = 0; i < count; i++) {
    const { name, type } = gl.getActiveUniform(program, i);
    uniforms[name] = { type, place: gl.getUniformLocation(program, name) };
  }
  return { program, uniforms };
}

/** Sets those of the values that the program has. */
function setUniforms(gl, { uniforms }, values) {
  for (const [name, value] of Object.entries(values)) {
    const uniform = uniforms[name];
    if (!uniform) continue;
    const { type, place } = uniform;
    if (type === gl.FLOAT) gl.uniform1f(place, value);
    else if (type === gl.FLOAT_VEC2) gl.uniform2fv(place, value);
    else if (type === gl.FLOAT_VEC3) gl.uniform3fv(place, value);
    else if (type === gl.FLOAT_MAT4) gl.uniformMatrix4fv(place, false, value);
    else if (type === gl.UNSIGNED_INT) gl.uniform1ui(place, value);
    else gl.uniform1i(place, value);
  }
}

/** A vertex array; `attributes` are { place, size, data, each } with `each` for one value an instance. Data may be a buffer that there is. */
function vertexArray(gl, attributes, indices) {
  const array = gl.createVertexArray();
  gl.bindVertexArray(array);
  const buffers = attributes.map(({ place, size, data, each }) => {
    const buffer = data instanceof WebGLBuffer ? data : gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    if (buffer !== data) gl.bufferData(gl.ARRAY_BUFFER, data, each || indices === "dynamic" ? gl.DYNAMIC_DRAW : gl.STATIC_DRAW);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, gl.FLOAT, false, 0, 0);
    if (each) gl.vertexAttribDivisor(place, 1);
    return buffer;
  });
  if (indices instanceof Uint32Array) {
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
  }
  gl.bindVertexArray(null);
  return { array, buffers };
}

function refill(gl, buffer, data) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
}

/** A square map of depths, compared and filtered when it is read. */
function depthMap(gl, size) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, size, size);
  for (const [name, value] of [
    [gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
    [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
    [gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE], [gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL],
  ]) gl.texParameteri(gl.TEXTURE_2D, name, value);
  const target = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, target);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
  gl.drawBuffers([gl.NONE]);
  gl.readBuffer(gl.NONE);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  return { texture, target, size };
}
